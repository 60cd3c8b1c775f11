#!/usr/bin/env python3
"""`openset task`, and what plan says of a study's splits."""
import re
import sys

sys.path.insert(0, "tools/testing")
from program import ProgramTest, main  # noqa: E402


class SplitsTest(ProgramTest):
    def test_splits_are_described_and_repeats_are_named(self):
        splits = self.program.must_run("task splits cifar10_plus_10")
        self.assertRegex(splits.out, " known +unknown +test +test\ntask +split +classes +classes +openness +train +"
                                     "known +unknown +unknown/known +hash\n")
        self.says(" ".join(splits.out.split()), "unknown/known is the ratio of the test samples")
        # 1 - sqrt(8 / 18) = 1/3; 1,000 unknown to 4,000 known test images.
        self.assertRegex(splits.out, r"cifar10_plus_10 +0 +4 +10 +0\.3333 +20000 +4000 +1000 +0\.250 +[0-9a-f]+")
        self.assertEqual(
            splits.err, "hint: cifar10_plus_10: split 2 has the same known classes as split 1 and 9 of its 10 "
                        "unknown ones: together they are about one draw, and tests count two\n")
        self.assertEqual(self.program.must_run("task splits cifar10_plus_10_distinct").err, "")
        # In the order of the task's file.
        self.assertRegex(self.out("task splits fashion_mnist_6_4"),
                         "outputs of a network for each split:\nsplit 0: output 0 = [^,]+, output 1 = ")
        imagenet = self.out("task splits openood_imagenet_1k")
        self.says(imagenet, ", ..., output 999 = ")
        # With images that scores are fitted to.
        self.assertRegex(imagenet,
                         r"openood_imagenet_1k +0 +1000 +5 +0\.0012 +50000 +45000 +85908 +1\.909 +[0-9a-f]+")

    def test_scores_are_fitted_to_the_part_that_is_named(self):
        self.write("net.safetensors", "")
        for task, part, error in (
                ("cifar10", "train", "--fit_part: task cifar10 has no fit_part to replace"),
                ("openood_imagenet_1k", "no",
                 "--fit_part: data set 'imagenet': unknown part 'no' (known: train, train_50, val, "),
                ("openood_imagenet_1k", "openood_test", "--fit_part: is a part of the test images too"),
                ("openood_imagenet_1k", "train", "net.safetensors")):  # the part is right, the file is not
            self.fails("score --model=net.safetensors --network=resnet18 --split=0 "
                       f"--task={task} --fit_part={part}", 2, error)
            if error.startswith("--fit_part"):
                self.fails(f"task samples {task} --fit_part={part}", 2, error)

    def test_a_plan_shows_the_splits_of_the_study_and_their_repeats(self):
        def plan(splits, methods="'mcp'"):
            self.write("a.textproto", f"name: 'a' task: 'cifar10' method: [{methods}] split: {splits} seed: [0, 1] "
                                      "metric { auroc {} }")
            return self.program.must_run("plan a.textproto --noprobe")

        both = plan([0, 1])
        self.assertRegex(both.out, r"cifar10 +1 +6 +4 +0\.1340 +30000 +6000 +4000 +0\.667 +[0-9a-f]+")
        self.says(both.err, "hint: cifar10: split 1 has the same known and unknown classes as split 0: tests count the two "
                            "as one split, with the seeds of both")
        # Three splits are two draws, which are too few for a test.
        self.says(plan([0, 1, 2], "'mcp', 'openauc'").out, "cifar10: 2 splits: methods will not be tested")
        self.says(self.run_program("report a.textproto --store=none").err, "there is no store")
        self.assertEqual(plan([1, 2]).err, "")

    # What a paired test over five splits finds at Holm's first level of three, and that two splits are too few for one.
    def test_a_plan_says_what_its_tests_can_find(self):
        self.says(self.out("plan quickstart --noprobe"),
                  "Tests against the baseline\n  fashion_mnist_6_4: 5 splits, 3 tests a metric: if the difference of "
                  "two methods varies by 1 point")
        self.says(self.out("plan openauc_lambda_small --noprobe"),
                  "fashion_mnist_6_4: 2 splits: methods will not be tested; a test needs at least 3 splits")

    # 40 of 4,000 images of four classes are drawn, then at most 8 of each class are taken: 32, unless one has fewer.
    # The plan counts what the run tests.
    def test_a_plan_counts_the_samples_that_are_tested(self):
        def write_task(data_set):
            self.write("tasks/drawn.textproto", f"""
name: 'drawn' data_set: 'fashion_mnist' split {{ known: [0, 1, 2, 5] }}
unknown {{ data_set: '{data_set}' class_id: [3, 4, 6, 7] draw_samples: 40 }}
""")

        self.write("study.textproto", """
name: 'study' task: 'drawn' method: 'mcp' split: 0 seed: 0 train_limit_per_class: 50 test_limit_per_class: 8
metric { auroc {} }
override {
  model { osrci_cnn {} head { linear { bias: true } } } input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training { epochs: 1 batch_size: 50 }
}
""")
        write_task("fashion_mnist")
        plan = self.out("plan study.textproto --noprobe")
        self.says_not(plan, "at most")
        self.out("run study.textproto")
        record, = self.program.shown_records()
        tested = int(record["counts"]["unknown"])
        self.assertLessEqual(tested, 32)
        self.assertRegex(plan, rf"drawn +0 +4 +4 +0\.[0-9]+ +200 +32 +{tested} ")
        # If the data is missing, the plan says why the number is not exact.
        write_task("mnist")
        self.says(self.out("plan study.textproto --noprobe"),
                  "at most 32 (drawn, then limited per class; the data is not here)")


class NewTaskTest(ProgramTest):
    def new(self, name, flags):
        """Makes a task of classes of Fashion-MNIST: (the program's messages, what `task splits` prints)."""
        messages = self.program.must_run(f"task new {name} --data=fashion_mnist {flags}").err
        return messages, self.out(f"task splits {name} --library=.")

    def task(self, name):
        return self.read(f"tasks/{name}.textproto")

    # Drawn classes of the data set itself, and complete data sets: 2 of its classes, 10 digits, 1 kind of noise.
    def test_near_and_far_sets(self):
        splits = self.new("mixed", "--known=4 --unknown=2 --near=mnist --far=uniform_noise --splits=2")[1]
        self.says(self.task("mixed"), "distance: FAR", *(
            f'unknown {{\n  group: "{name}"\n  data_set: "{name}"\n  distance: NEAR\n}}'
            for name in ("fashion_mnist", "mnist")))
        # 2,000 images of its own and 10,000 digits among the unknown ones.
        self.assertRegex(splits, r"mixed +1 +4 +13 +0\.[0-9]+ +24000 +4000 +[0-9]+ ")
        # Only other data sets: the classes that are not known are not tested.
        self.assertRegex(self.new("whole", "--known=10 --far=mnist --splits=1")[1],
                         r"whole +0 +10 +10 +0\.[0-9]+ +60000 +10000 +10000 ")
        self.assertRegex(self.new("named", "--known=Bag,Dress --far=mnist --splits=1")[1],
                         r"named +0 +2 +10 +0\.[0-9]+ +12000 +2000 +10000 ")

    # Complete data sets of several sources, and classes that are drawn for each split: 2 of 10, 10 digits, 1 kind of
    # noise.
    def test_several_sources_with_drawn_classes(self):
        splits = self.new("several", "--known=4 --unknown=2 --far=mnist,uniform_noise --splits=3 --seed=5")[1]
        self.says(self.task("several"), "drawn {\n  seed: 5\n  level {\n    known: 4\n    unknown: 2\n  }",
                  'group: "mnist"\n  data_set: "mnist"\n  distance: FAR', 'data_set: "uniform_noise"\n  distance: FAR')
        for split in range(3):
            self.assertRegex(splits, f"several +{split} +4 +13 ")

    def test_drawn_classes(self):
        self.assertRegex(self.out("task new mine --data=fashion_mnist --known=6 --unknown=4 --splits=3 --seed=7"),
                         "split 2: known: .*\nopenness 0\\.13397.*\n.*tasks/mine\\.textproto\n")
        self.assertEqual(self.task("mine"), """# proto-file: data/task.proto
# proto-message: openset.TaskSpec

name: "mine"
data_set: "fashion_mnist"
drawn {
  seed: 7
  level {
    known: 6
    unknown: 4
  }
  repeats: 3
}
""")
        splits = self.out("task splits mine --library=.")
        self.assertRegex(splits, r"mine +2 +6 +4 +0\.1340 +36000 +6000 +4000 +0\.667")
        self.assertNotRegex(splits, "mine +3")

        # The same seed, the same splits, whatever the task is called; another seed, others.
        def hashes(splits):
            return re.findall(r"^\w+ +\d .* ([0-9a-f]+)$", splits, re.MULTILINE)

        self.assertEqual(len(hashes(splits)), 3)
        self.assertEqual(hashes(self.new("same", "--known=6 --splits=3 --seed=7")[1]), hashes(splits))
        self.assertNotEqual(hashes(self.new("other", "--known=6 --splits=3")[1]), hashes(splits))

    # 9 of 10 classes are known: five draws of them repeat one more often than not.
    def test_it_draws_until_no_split_repeats_another(self):
        one_draw = "tests count the two as one split"
        warnings = [self.new(f"given{seed}", f"--known=9 --splits=5 --seed={seed}")[0] for seed in range(5)]
        self.assertRegex("".join(warnings), "hint: given[0-9]: split [1-4] has the same known and unknown classes as "
                                            "split [0-3]: " + one_draw)
        self.assertEqual(self.new("five", "--known=9 --splits=5")[0], "")
        self.assertEqual(self.program.must_run("task splits five --library=.").err, "")
        # There are ten such sets.
        self.says(self.new("eleven", "--known=9 --splits=11")[0], one_draw)

    def test_listed_classes_and_folds(self):
        self.write("known.txt", "# two of them\nDress\n\nBag\n")
        # 70,000 images of ten classes: 1,400 of each in a fold.
        self.assertRegex(self.new("folds", "--known=@known.txt --splits=1 --folds=5")[1],
                         r"folds +4 +2 +8 +0\.4226 +11200 +2800 +11200 +4\.000")
        self.new("two", "--known=Dress,8 --unknown=Coat,Shirt --splits=1")
        self.says(self.task("two"), 'split {\n  known_class: "Dress"\n  known_class: "Bag"\n  unknown_class: "Coat"\n'
                                    '  unknown_class: "Shirt"\n}\n')
        self.says(self.new("five", "--known=Dress,Bag --splits=2")[0],
                  "hint: the splits have the same classes, and differ only in the order of the unknown ones")
        self.says(self.program.must_run("task splits five --library=.").err,
                  "hint: five: split 1 has the same known and unknown classes as split 0")
        self.assertEqual(self.new("six", "--known=6 --splits=2")[0], "")

    def test_by_openness(self):
        # 1 - sqrt(12 / 16) = 0.134: 4 unknown classes are nearest to 0.13.
        self.new("open", "--known=6 --openness=0.13")
        self.says(self.task("open"), "known: 6\n    unknown: 4\n")

    def test_like_another_task(self):
        self.out("task new real --like=cifar10_plus_10 --known=cat,dog --splits=1")
        self.says(self.task("real"), 'data_set: "cifar100"', 'split {\n  known_class: "cat"\n  known_class: "dog"\n}\n')

    def test_impossible_requests_are_refused(self):
        fashion = "task new bad --data=fashion_mnist "
        for command, error in (
                ("task new bad", "--data: name a data set, or a folder of images"),
                ("task new bad --data=fashion_mist --known=6", "did you mean 'fashion_mnist'?"),
                ("task new bad --data=mnist", "--known: give the known classes by name (cat,dog)"),
                (fashion + "--known=Dres,Bag", "did you mean 'Dress'?"),
                (fashion + "--known=10", "--known: must be 1 to 9 of the 10 classes"),
                (fashion + "--known=11 --far=mnist", "--known: must be 1 to 10 of the 10 classes (is 11)"),
                (fashion + "--known=4 --far=mnits", "--far: unknown data set 'mnits'; did you mean 'mnist'?"),
                (fashion + "--known=6 --unknown=5",
                 "6 known and 5 unknown classes can't be drawn: 'fashion_mnist' has 10 classes"),
                (fashion + "--known=6 --openness=1.5", "--openness: must lie between 0 and 1"),
                (fashion + "--known=@none.txt", "none.txt"),
                (fashion + "--known=Bag,Bag", "class 8 (Bag) is listed twice"),
                ("task neu x", "did you mean 'new'?"),
                ("task new", "new: takes one argument, a task's name")):
            self.fails(command, 2, error)


if __name__ == "__main__":
    main()
