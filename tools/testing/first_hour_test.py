#!/usr/bin/env python3
"""A user's first hour: README.md's own study from its plan to its figures, and their own images.

The rest is in show_test (names), eval_test and compare_test (only scores), records_test (mistakes in a spec), run_test
(two runs at once) and score_test (an invalid model).
"""
import re
import sys
import time

sys.path.insert(0, "tools/testing")
from program import ProgramTest, blocks_of, main  # noqa: E402
from samples import png  # noqa: E402

README = blocks_of("README.md")


def block_with(text):
    block, = (block for block in README if text in block)
    return block


def on_fewer_images(study):
    """The README's study in seconds: of one split, with two seeds."""
    for old, new in (('["0.05", "0.1", "0.2"]', '["0.05", "0.2"]'), ("split: [0, 1, 2, 3, 4]", "split: 0"),
                     ("seed: 0", "seed: [0, 1]"), ("training { batch_size: 100 }", "training { epochs: 2 batch_size: 50 }")):
        assert study.count(old) == 1, old
        study = study.replace(old, new)
    return study + "train_limit_per_class: 50 test_limit_per_class: 20\n"


README_STUDY = block_with('name: "lambda"')
LAMBDA = on_fewer_images(README_STUDY)


def line_with(text, part):
    return next((line for line in text.splitlines() if part in line), "")


class FirstHourTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.home = self.program.path("home")  # where probes are remembered
        self.program.environment["HOME"] = str(self.home)

    # The README's blocks, as they are: a study of 3 weights on 5 splits, which a paired test can compare; own images; a
    # number that Python prints.
    def test_blocks_of_the_readme(self):
        self.write("lambda.textproto", README_STUDY)
        plan, run = re.findall("//tools:openset -- (.*)lambda.textproto", block_with("-- plan"))
        self.assertEqual((plan.split()[0], run.split()[0]), ("plan", "run"))
        self.says(self.out(f"plan {self.program.folder}/lambda.textproto --noprobe"), "lambda: 15 trials\n",
                  "\n  fashion_mnist_6_4: 5 splits, 2 tests a metric")
        for c, name in enumerate(("cat", "dog", "fox", "owl")):
            for i in range(5):
                self.write(f"photos/{name}/{i}.png", png(80 * c, 40 * i, 0))
        describe, new = block_with("openset data describe").splitlines()
        for line, written in ((describe.replace("/data/photos", "photos"), "catalog/photos"), (new, "tasks/pets")):
            self.out(re.fullmatch("openset (.*?) +# .*", line)[1])
            self.assertNotEqual(self.read(written + ".textproto"), "", line)
        self.assertEqual(self.out("task splits pets").count(": output 0 = "), int(re.search("--splits=([0-9]+)", new)[1]))
        label, score, printed = re.search(r"label=\[(.*)\], unknown_score=\[(.*)\]\)\[\"auroc\"\].*\n(.*)",
                                          block_with("openset.evaluate")).groups()
        self.write("scores.csv", "label,unknown_score\n" + "".join(
            f"{a},{b}\n" for a, b in zip(label.split(","), score.split(","))))
        self.assertEqual(self.values("eval scores.csv --metrics=auroc"), {"auroc": float(printed)})

    # The estimate comes from a probe, which is made once and writes nothing to the store. If the trainings take more
    # than a minute, another probe, with two threads, says which number of threads is faster.
    def test_a_plan_says_how_long_a_study_takes(self):
        self.write("lambda.textproto", LAMBDA)

        def probes():
            return len(list((self.home / ".cache/openset/probes").iterdir()))

        plan = self.program.must_run("plan lambda.textproto --jobs=2")
        cost = line_with(plan.out, "the whole study: about ")
        self.says(cost, " on 2 CPU slots, ", "(100 % by a probe of some seconds)")
        self.assertFalse(self.program.store.exists())
        self.assertEqual(probes(), 1)
        self.assertEqual(line_with(plan.out, " first with "), "")
        self.assertEqual(line_with(self.out("plan lambda --jobs=2 --noprobe"), "the whole study: about "), cost)
        longer = "plan lambda --jobs=2 --set=training.epochs=100000"
        threads = line_with(self.program.must_run(longer).err, " first with ")
        self.says(threads, "images a second together")
        self.assertEqual(probes(), 2)
        self.assertEqual(line_with(self.program.must_run(longer).err, " first with "), threads)
        # JSON output makes no probe. The number of slots differs, so that no probe is remembered.
        self.says(self.out("plan lambda --jobs=1 --format=json"), '"probed": 0.0')

    def test_an_own_study_is_run_plotted_and_exported(self):
        self.write("lambda.textproto", LAMBDA)
        self.out("plan lambda --jobs=2")  # its probe is remembered
        self.assertRegex(line_with(self.out("run lambda --jobs=2"), " on 2 CPU slots, "), "^about ")
        # From now on, the estimate comes from its own trainings.
        self.says(self.out("plan lambda --jobs=2"), "(100 % from earlier trainings of the same networks here)")

        self.out("figure lambda --x=lambda --y=AUROC --out=l.pdf")
        self.assertEqual(self.program.path("l.pdf").read_bytes()[:4], b"%PDF")
        self.assertEqual(self.out("figure lambda --curve=loss"), "lambda_loss.svg\n")
        self.says(self.read("lambda_loss.svg"), "<svg")

        self.write("tidy.csv", self.out("report lambda --format=csv --tidy"))
        self.says(self.out("compare tidy.csv --metrics=AUROC"), "0.05", "0.2")
        self.says(self.out("show method openauc"), "    lambda: 0.1\n")

    # In another terminal, while it runs: the epoch, and the time left.
    def test_status_shows_epoch_and_time_left_and_cancel_stops(self):
        self.write("lambda.textproto", LAMBDA.replace("epochs: 2", "epochs: 1000"))
        process = self.program.start("run lambda --jobs=1")
        other = self.another_program("other")
        other.write("lambda.textproto", self.read("lambda.textproto"))
        store, status = f" --store={self.program.store}", ""
        # The study takes far longer than the test. Before a speed is known, only the epoch is shown.
        while " images/s" not in status or " left" not in line_with(status, "running by "):
            time.sleep(0.1)
            self.assertIsNone(process.poll(), self.read("err.txt"))
            status = other.run("status lambda" + store).out
        self.says(line_with(status, "running by "), "actions, ", " left")
        self.says(line_with(status, ": epoch "), "/1000, loss ", " images/s")
        self.says(other.must_run("cancel lambda" + store).out,
                  f", process {process.pid}: asked to stop; its trainings save")
        self.assertEqual(process.wait(), 130)
        self.assertEqual(other.must_run("cancel lambda" + store).out,
                         "lambda: nothing runs it, and it has no Slurm jobs\n")

    # Images of several sizes, in a folder for each class.
    def test_a_changed_image_is_measured_again(self):
        def write_image(path, side, value):
            self.write("photos/" + path, png(value, value, value, width=side + 4, height=side))

        for i in range(10):
            write_image(f"cat/{i}.png", 16 + i, 20 * i)
            write_image(f"dog/{i}.png", 20 + i, 255 - 20 * i)
            write_image(f"owl/{i}.png", 30, 128)
        self.write("tasks/pets.textproto", f"name: 'pets' data_set: 'folder:{self.program.folder}/photos' "
                                           "split { known: [0, 1] unknown: 2 }")
        self.write("own.textproto", """
name: "own" task: "pets" method: "softmax" split: 0 seed: 0
override {
  model { osrci_cnn {} }
  input { size: 16 }
  training { epochs: 1 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { auroc {} }
""")
        self.says(self.out("run own.textproto"), "1 training, 1 inference, 1 evaluation,")
        self.says(self.out("run own.textproto"), "nothing to run")
        write_image("dog/3.png", 23, 77)
        self.says(self.out("run own.textproto"), "1 inference, 1 evaluation,")
        self.assertEqual(len(self.program.records()), 2)


if __name__ == "__main__":
    main()
