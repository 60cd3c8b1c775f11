#!/usr/bin/env python3
"""Likely mistakes of users, through the program: what it says of them, and what it takes as it is meant."""
import os
import shutil
import sys

sys.path.insert(0, "tools/testing")
from arrays import f32, f64, i64, texts  # noqa: E402
from program import SMALL_STUDY, ProgramTest, main  # noqa: E402
from samples import png  # noqa: E402

PHOTOS_STUDY = """
name: "study" task: "photos" split: 0 seed: 0 method: "softmax"
override {
  model { osrci_cnn {} }
  input { size: 16 }
  training { epochs: 1 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { accuracy {} } metric { auroc {} }
"""


class FilesTest(ProgramTest):
    # Three classes, all known samples right but one.
    def test_labels_that_begin_at_one(self):
        self.write("all.csv", "label,prediction,unknown_score\n1,1,0.1\n2,2,0.2\n3,3,0.3\n3,1,0.4\n-1,1,0.9\n")
        said = ("hint: the labels of known samples are 1 .. 3, and classes are numbered from 0: class 0 counts as a "
                "known class without samples; if your classes begin at 1, subtract 1 from the labels of known samples and")
        self.says(self.run_program("eval all.csv").err, said)
        self.arrays("all.npz", label=i64([1, 2, 3, 3, -1]), prediction=i64([1, 2, 3, 1, 1]),
                    unknown_score=f64([.1, .2, .3, .4, .9]))
        self.says(self.run_program("eval all.npz").err, said)
        self.write("shifted.csv", "label,prediction,unknown_score\n1,0,0.1\n2,1,0.2\n3,2,0.3\n3,0,0.4\n-1,1,0.9\n")
        self.says(self.run_program("eval shifted.csv").err,
                  "the predictions begin at 0, and accuracy is 0.0 %, but 75.0 % if 1 is subtracted from the labels")

    def test_files_of_other_formats(self):
        self.write("scores.parquet", "PAR1")
        line = ('python3 -c "import sys, pandas; f, to = sys.argv[1:]; pandas.read_parquet(f).to_csv(to, index=False)" '
                "'scores.parquet' 'scores.csv' converts it\n")
        for command in ("eval scores.parquet", "threshold scores.parquet", "score --model=scores.parquet"):
            self.assertTrue(self.refused(command).endswith(line), command)
        self.write("scores/some.csv", "label\n")
        self.refused("eval scores", "scores is a folder: name a file of scores in it (it has some.csv)")
        self.refused("score --model=scores", "--model: scores is a folder: name a file in it: outputs (.npz, .csv)")

    # The wolf is an unknown sample: the classes are the two of class_names, in the order of the logits.
    def test_names_of_classes_in_arrays(self):
        arrays = {"label": texts(["dog", "cat", "cat", "unknown"]), "logits": f32([3, 0, 0, 3, 1, 2, .1, 0], 4, 2)}
        self.arrays("named.npz", **arrays)
        self.refused("eval named.npz", "array 'label' holds texts, and there is no array 'class_names': add it")
        self.arrays("named.npz", **arrays, class_names=texts(["dog", "cat"]))
        self.assertEqual(self.values("eval named.npz --metrics=accuracy,auroc"), {"accuracy": 1, "auroc": 1})
        self.out("score --model=named.npz --methods=mcp")
        self.says(self.out("report score_named"), "100.0")


class PhotosTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for name, colour in (("cat", (255, 0, 0)), ("dog", (0, 255, 0)), ("owl", (0, 0, 255))):
            for i in range(5):
                self.write(f"photos/{name}/{i}.png", png(*colour))
        self.folder = self.program.folder
        self.write("tasks/photos.textproto",
                   f"name: 'photos' data_set: 'folder:{self.folder}/photos' split {{ known: [1, 0] }}")
        self.write("study.textproto", PHOTOS_STUDY)

    def test_images_that_cant_be_decoded_are_named_before_a_training(self):
        self.assertNotIn("can't be decoded", self.run_program("plan study.textproto").err)
        photo = self.program.path("photos/owl/3.png").read_bytes()
        self.write("photos/owl/3.png", photo[:-20])  # cut short
        self.write("photos/owl/4.png", "no image")
        for command in ("plan study.textproto", "plan study.textproto", "run study.textproto --devices=cpu"):
            said = self.run_program(command).err
            self.says(said, f"hint: folder:{self.folder}/photos: 2 images can't be decoded, and a training or test that "
                      f"reads one fails: {self.folder}/photos/owl/3.png: ",
                      f"leave them out: openset data describe '{self.folder}/photos' --skip_damaged")
        self.out("data describe photos --skip_damaged")
        self.write("tasks/photos.textproto", "name: 'photos' data_set: 'photos' split { known: [1, 0] }")
        self.assertNotIn("can't be decoded", self.run_program("run study.textproto --devices=cpu").err)

    def test_flat_folders_are_described_without_their_damaged_images(self):
        self.write("flat/0.png", png(255, 0, 0))
        self.write("flat/1.png", png(0, 255, 0))
        self.write("flat/2.png", "no image")
        self.fails("data describe flat", 2, "flat: its images are not in class folders", "--skip_damaged writes an entry")
        self.says(self.out("data describe flat --skip_damaged"), "left out: 1 corrupt image",
                  "one class, for unknown images: openset task new NAME --data=... --known=... --far=flat")
        self.says(self.read("catalog/flat.textproto"), 'skip: "flat/2.png"')
        self.out("data describe photos")
        self.out("task new pets --data=photos --known=cat,dog --splits=1 --far=flat")
        self.write("study.textproto", PHOTOS_STUDY.replace('task: "photos"', 'task: "pets"'))
        self.out("run study.textproto --devices=cpu")

    def test_changed_images_are_said_once(self):
        self.out("run study.textproto --devices=cpu")
        self.write("photos/cat/new.png", png(255, 0, 0))
        self.assertEqual(self.run_program("run study.textproto --devices=cpu").printed.count("have changed since"), 1)


class StudyTest(ProgramTest):
    def test_fields_by_other_names(self):
        self.write("study.textproto", SMALL_STUDY.replace("learning_rate", "lr"))
        self.refused("plan study.textproto", "unknown field 'lr' (known: ", "; did you mean learning_rate: ...?")
        self.write("study.textproto", SMALL_STUDY.replace("override {", "override { lr: 0.1"))
        self.refused("plan study.textproto", "; did you mean training { optimizer { learning_rate: ... } }?")
        self.write("study.textproto", SMALL_STUDY + 'axis { path: "lr" value: ["0.1", "0.2"] }')
        self.fails("plan study.textproto", 2, "unknown field 'lr'", "did you mean training.optimizer.learning_rate?")
        # The same on the command line.
        self.write("study.textproto", SMALL_STUDY)
        for flag, meant in (("--set=lr=0.1", "training.optimizer.learning_rate=0.1"),
                            ("--set=learning_rate=0.1", "training.optimizer.learning_rate=0.1"),
                            ("--set=wd=0", "training.optimizer.weight_decay=0"),
                            ("--set=batch=5", "training.batch_size=5"), ("--set=epochs=3", "training.epochs=3"),
                            ("--axis=lr=0.1,0.2", "training.optimizer.learning_rate")):
            with self.subTest(flag):
                self.refused("plan study.textproto " + flag, f"{flag}: ", f"; did you mean {meant}?\n")

    # A field as a flag, a format as a flag, a name in a field of ids.
    def test_what_was_meant_is_said(self):
        self.write("study.textproto", SMALL_STUDY)
        for command, said in (
                ("run study.textproto --lr=0.1",
                 "--lr is not a flag; --set=training.optimizer.learning_rate=VALUE sets it for all methods\n"),
                ("run study.textproto --epochs=3", "--set=training.epochs=VALUE sets it"),
                ("export mistakes 1234 --csv", "--csv is not a flag; --format=csv is\n")):
            with self.subTest(command):
                self.refused(command, said)
        self.write("tasks/pets.textproto", 'name: "pets" data_set: "fashion_mnist" split { known: "Bag" }')
        self.fails("task splits pets", 2, "; 'known' takes ids, 'known_class' names")
        self.write("scores.csv", "label,prediction,unknown_score\n0,0,0.1\n-1,0,0.2\n")
        self.refused("eval scores.csv --sample_scores=ss.csv", "--sample_scores: ss.csv doesn't end in .npz")

    # Several values of one setting are an axis: its trials are those of the single values.
    def test_several_values_on_the_command_line(self):
        self.write("study.textproto", SMALL_STUDY)

        def trials(flag):
            return {trial["id"] for trial in self.json("plan study.textproto " + flag)["trials"]}

        self.refused("plan study.textproto --set=training.epochs=1,2",
                     "; to try each of several values, --axis=training.epochs=1,2\n")
        both = trials("--axis=training.epochs=1,2")
        self.assertEqual(len(both), 2 * 2)
        self.assertEqual(both, trials("--set=training.epochs=1") | trials("--set=training.epochs=2"))
        self.assertEqual(len(trials("--axis=training.epochs=1,2 --axis=training.batch_size=32,64,96")), 2 * 2 * 3)
        self.refused("plan study.textproto --axis=training.epochs",
                     "--axis=training.epochs: write PATH=VALUE,VALUE, --axis=training.epochs=5,10\n")

    # The hint works as it is printed, with values in the place of the dots.
    def test_a_swept_field_that_is_set(self):
        self.write("study.textproto", SMALL_STUDY + 'axis { path: "training.epochs" value: ["1", "2"] }')
        hint = "--set='axis[0].value=[...]'"
        self.fails("plan study.textproto --set=training.epochs=5", 2, f"or set the values, {hint}")
        for values in ("[1, 2, 3]", '["1", "2", "3"]'):
            self.says(self.out("plan study.textproto --noprobe " + hint.replace("[...]", values)), "study: 6 trials")

    def test_a_method_that_is_not_in_the_study(self):
        self.write("study.textproto", SMALL_STUDY)
        self.says(self.program.must_run("plan study.textproto --noprobe --methods=mcp,max_logit").err,
                  "hint: --methods: max_logit is not a method of the study study: its results are made too\n")
        self.assertEqual(self.program.must_run("plan study.textproto --noprobe --methods=mcp").err, "")

    def test_a_store_that_is_not_there(self):
        self.write("study.textproto", SMALL_STUDY)
        for command in ("status", "cancel"):
            self.fails(f"{command} study.textproto --store=typo", 2, "typo")
        self.says(self.out("cancel study.textproto"), "study: nothing runs it")

    def test_bundles_by_another_name(self):
        self.write("study.textproto", SMALL_STUDY)
        self.out("run study.textproto")

        def values(command):
            return {(cell["method"], cell["metric"]): cell["values"] for cell in self.json(command)["cells"]}

        expected = values("report study.textproto")
        self.program.path("pets").mkdir()
        self.out("records export --bundle=pets/pets.zip")
        for name in ("moved", "elsewhere"):
            shutil.copytree(self.program.path("pets"), self.program.path(name))
        shutil.copy(self.program.path("study.textproto"), self.program.path("elsewhere/pets.textproto"))
        shutil.copy(self.program.path("pets/pets.zip"), self.program.path("pets.zip.1"))
        for given in ("./moved", "elsewhere/", "pets.zip.1"):
            self.assertEqual(values(f"report {given}"), expected, given)

    # Two commands: the one that failed, and the one that it names.
    def test_the_status_after_a_failure(self):
        self.write("study.textproto", SMALL_STUDY)
        failed = self.fails("run study.textproto --store=mine --data=none_such", 2)
        self.assertNotIn("shows why", failed.err)  # nothing was tried
        failed = self.run_program("run study.textproto --store=mine --worker=/bin/false --max_failures=1")
        self.assertNotEqual(failed.code, 0)
        self.says(failed.err, "'openset status study.textproto --store=mine' shows why")
        self.says(self.out("status study.textproto --store=mine"), "failed")

    # Slurm's commands are scripts: sbatch accepts every job as number 7, and the queue is empty.
    def test_slurm_says_that_the_time_is_short(self):
        self.write("study.textproto", SMALL_STUDY)
        for name, script in (("sbatch", "echo 7"), ("squeue", "true"), ("scontrol", "echo 'MaxArraySize = 1001'")):
            self.write(f"bin/{name}", f"#!/bin/sh\n{script}\n")
            self.program.path(f"bin/{name}").chmod(0o755)
        self.program.environment["PATH"] = f"{self.program.folder}/bin:{os.environ['PATH']}"
        self.write("cluster.textproto", 'slurm { time: "00:05:00" warning_seconds: 120 }')
        run = self.program.must_run("run study.textproto --engine=slurm --detach --deploy=cluster.textproto")
        self.says(run.err, "hint: slurm.time 00:05:00 leaves a task 120 seconds for work before the warning")
        self.says(run.out, "submitted Slurm job 7")


if __name__ == "__main__":
    main()
