#!/usr/bin/env python3
"""Wrong input: a clear line, exit code 2, nothing written."""
import pathlib
import re
import sys

sys.path.insert(0, "tools/testing")
from program import ProgramTest, main, shipped  # noqa: E402

SPEC = """name: 'study'
task: 'fashion_mnist_6_4'
method: 'softmax'
split: 0
seed: 0
metric { accuracy {} }
"""


class BadInputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("study.textproto", SPEC)

    def refused_study(self, spec, message, flags=""):
        """A run of this study is refused in one line, with nothing in the store."""
        self.write("study.textproto", spec)
        self.refused("run study.textproto " + flags, message)
        self.assertFalse(self.program.store.exists())

    def test_a_store_of_schema_version_1(self):
        self.write("openset-store/records/ab/abcd.rec", "of version 1")
        for command in ("plan", "run", "status", "report"):
            self.refused(command + " study.textproto", f"the store {self.program.store} is of schema version 1",
                         "name another folder (--store), where its results are made again; or, if only its file "
                         "'version' was lost, write into it: openset store 3\n")
        self.assertEqual(self.read("openset-store/version"), "")

    def test_a_store_that_is_a_file(self):
        self.write("openset-store", "a file")
        for command in ("plan study.textproto", "run study.textproto", "status study.textproto",
                        "report study.textproto", "status", "records ls", "records merge study.textproto",
                        "explain abcd"):
            self.refused(command, f"{self.program.store} is not a folder: name another store")
        self.assertEqual(self.read("openset-store"), "a file")

    def test_no_store(self):
        for command in ("status", "records ls", "records verify", "records gc", "explain abcd"):
            self.refused(command, f"there is no store {self.program.store}")
        for command in ("status", "status study.textproto"):
            self.refused(command + " --store=/typo", "there is no store /typo")
        # Of two things that are missing, the study is named first.
        self.assertEqual(self.refused("report nope/x"), "openset: nope/x: no such file or folder\n")
        self.assertEqual(self.refused("report study.textproto --store=nope"),
                         f"openset: there is no store {self.program.folder}/nope, and so no result of study.textproto: "
                         "name the store by --store=FOLDER\n")
        self.write("mine/version", "openset store 3\n")
        self.assertEqual(self.refused("report mine"), "openset: mine/: is a store: give it by --store=mine/\n")

    # Each error is in one line, with the file and, where there is one, the line.
    def test_a_spec_that_is_wrong(self):
        self.write("data/tasks/mine.textproto",
                   "name: 'mine'\ndata_set: 'fashion_mnist'\nsplit {\n  known: [0, 1]\n  unknown: [1, 2]\n}\n")
        for spec, message in (
                (SPEC + "sed: 1", "study.textproto:7:4: unknown field 'sed'; did you mean 'seed'?"),
                (SPEC.replace("softmax", "sofmax"),
                 "study.textproto:3: method[0]: unknown method 'sofmax'; did you mean 'softmax'?"),
                (SPEC.replace("fashion_mnist_6_4", "fashion"), "study.textproto:2: task[0]: unknown task 'fashion'"),
                (SPEC.replace("seed: 0\n", ""), "study.textproto: seed: must not be empty"),
                (SPEC.replace("fashion_mnist_6_4", "mine"), "data/tasks/mine.textproto:5: "),  # known and unknown
                (SPEC + "override { training { batch_size: 0 } }",
                 "study.textproto:7: override.training.batch_size: must be at least 1 (is 0)")):
            self.refused_study(spec, message)

    def test_bf16_needs_a_cpu_with_its_instructions(self):
        cpu = pathlib.Path("/proc/cpuinfo").read_text()
        if "avx512_bf16" in cpu:
            self.skipTest("this CPU has them")
        self.refused("run study.textproto --set=execution.precision=BF16",
                     "execution.precision: BF16 needs a GPU", re.search("model name\\s*: (.*)", cpu)[1])
        self.assertEqual(self.program.records(), {})

    def test_tf32_needs_a_gpu(self):
        why = "execution.precision: TF32 needs a GPU: use FP32 on the CPU, or a GPU (--devices)"
        self.refused("run study.textproto --devices=cpu --set=execution.precision=TF32", why)
        self.assertEqual(self.program.records(), {})
        plan = self.program.must_run("plan study.textproto --devices=cpu --set=execution.precision=TF32 --noprobe")
        self.says(plan.err, "warning: " + why)

    def test_missing_data_file(self):
        entry = shipped("data/catalog/fashion_mnist.textproto")
        self.write("data/catalog/mine.textproto", entry.replace("train-images-idx3-ubyte.gz", "nowhere.gz").replace(
            'name: "fashion_mnist"', 'name: "mine"'))
        self.write("data/tasks/mine.textproto", "name: 'mine' data_set: 'mine' split { known: [0, 1] }")
        self.refused_study(SPEC.replace("fashion_mnist_6_4", "mine"), "nowhere.gz")

    def test_wrong_checksum(self):
        self.write("mine/fashion_mnist/train-labels-idx1-ubyte.gz", "other bytes")
        self.refused_study(SPEC, "train-labels-idx1-ubyte.gz", "--data=mine")

    def test_truncated_idx_file(self):
        # A catalog entry without checksums, so that the reader finds the error: the images lack a byte.
        self.write("mine/tiny/images", bytes((0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 4, 0, 0, 0, 4)) + b"x" * (40 * 16 - 1))
        self.write("mine/tiny/labels", bytes((0, 0, 8, 1, 0, 0, 0, 40)) + bytes((0, 1, 2, 3)) * 10)
        parts = "".join(f"part {{ name: '{part}' samples: 40 samples_per_class: 10 idx {{ images {{ path: "
                        "'tiny/images' } labels { path: 'tiny/labels' } } } " for part in ("train", "test"))
        self.write("data/catalog/tiny.textproto", "name: 'tiny' class_name: ['a', 'b', 'c', 'd'] channels: 1 height: 4 "
                   f"width: 4 layout {{ {parts} }}")
        self.write("data/tasks/tiny.textproto", "name: 'tiny' data_set: 'tiny' split { known: [0, 1] unknown: [2, 3] }")
        self.refused_study(SPEC.replace("fashion_mnist_6_4", "tiny"), "mine/tiny/images", "--data=mine")

    def test_missing_spec(self):
        self.assertEqual(self.refused("run nowhere.textproto"), "openset: no such file: nowhere.textproto\n")
        self.refused("run quickstat", "unknown study 'quickstat'; did you mean 'quickstart'?")
        self.write("base.textproto", SPEC)
        self.refused("report bas", "unknown study 'bas'; did you mean 'base'? (known: base, ")

    def test_file_that_is_not_a_spec(self):
        self.program.path("folder.textproto").mkdir()
        self.write("empty.textproto", "")
        self.write("binary.textproto", b"\0\xff\xfe{{")
        for name in ("empty", "binary", "folder"):
            self.fails(f"run {name}.textproto", 2)
        self.assertFalse(self.program.store.exists())

    def test_flags_and_commands(self):
        for command, message in (
                ("runn quickstart", "unknown command 'runn'; did you mean 'run'?"),
                ("gc", "'gc' is a subcommand: 'openset records gc'"),
                ("run quickstart --stor=x", "unknown flag '--stor'; did you mean '--store'?"),
                ("run", "usage: openset run SPEC"),
                ("run a b", "usage: openset run SPEC"),
                ("run quickstart --jobs=x", "--jobs: 'x' is not valid"),
                ("report quickstart --format=jsn", "did you mean 'json'?")):
            self.fails(command, 2, message)
        self.assertFalse(self.program.store.exists())

    def test_help_is_printed(self):
        for command, spec in (("run", "SPEC"), ("plan", "SPEC"), ("status", "[SPEC]"), ("report", "SPEC")):
            self.says(self.out("help " + command), f"usage: openset {command} {spec}", "--deploy", "--store")
        self.says(self.run_program("").out, "usage: openset COMMAND")
        self.says(self.out("--help"), "report ")


def axes(values, *fields):
    """Axes of fields of `training`, each with the values from 1 to `values`."""
    return "".join(f"axis {{ path: 'training.{field}' value: {[str(v) for v in range(1, values + 1)]} }}\n"
                   for field in fields)


class LimitsTest(ProgramTest):
    """Numbers that are too large in specs and flags: an error with the number, before anything is made."""

    def write_task(self, splits):
        self.write("tasks/mine.textproto", "name: 'mine'\ndata_set: 'mnist'\n" + splits)

    def write_spec(self, more):
        self.write("study.textproto", "name: 'study'\ntask: 'mine'\nmethod: 'softmax'\nmetric { auroc {} }\n" + more)

    def refused_plan(self, message, flags=""):
        self.fails("plan study.textproto " + flags, 2, message)

    def test_splits_of_a_task(self):
        self.write_spec("seed: 0")
        for splits, message in (
                ("drawn { level { known: 6 unknown: 4 } repeats: 65536 }\ncross_validation { folds: 65536 }",
                 "tasks/mine.textproto:3: drawn: these are 4294967296 splits"),
                ("drawn { level { known: 6 unknown: 4 } repeats: 2147483647 }",
                 "tasks/mine.textproto:3: drawn.repeats: must be at most 1000000 (is 2147483647)"),
                ("drawn { levels: 2147483647 }", "drawn.levels: must be at most 1000000 (is 2147483647)"),
                ("split { known: 0 }\ncross_validation { folds: 2147483647 }",
                 "cross_validation.folds: must be at most 1000000 (is 2147483647)")):
            self.write_task(splits)
            self.refused_plan(message)
        self.fails("task splits mine", 2)

    # More than the 100,000 trials that are planned in a second: each split is resolved once, in linear time.
    def test_plans_each_of_many_splits_once(self):
        self.write_spec("seed: 0")
        self.write_task("drawn { level { known: 6 unknown: 4 } repeats: 200000 }")
        plan = self.program.must_run("plan study.textproto --format=csv")
        self.assertEqual(plan.out.count("\n"), 200001)
        self.assertLess(plan.err.count("\n"), 30)

    def test_trials_of_a_study(self):
        self.write_task("split { known: 0 } split { known: 1 }")
        self.write_spec("seed: 0\n" + axes(100000, "epochs", "batch_size", "max_steps", "optimizer.learning_rate"))
        self.refused_plan("study.textproto: makes more than 9223372036854775807 trials (")
        self.write_spec("seed: [0, 1, 2]")
        self.refused_plan("study.textproto: makes 6 trials (methods and settings: 1, splits of tasks: 2, levels of "
                          "openness: 1, seeds: 3), and at most 5 are allowed; --max_trials=N allows more",
                          "--max_trials=5")
        self.out("plan study.textproto --max_trials=6 --noprobe")
        self.refused_plan("--seeds=0..999999999: '0..999999999': there may be at most 100000 seeds",
                          "--seeds=0..999999999")
        self.refused_plan("there may be at most 100000 seeds", "--seeds=0..99999,100000..199999")
        self.out("plan study.textproto --seeds=18446744073709551615 --noprobe")
        self.refused_plan("training.epochs: must be at most 1000000 (is 2147483647)",
                          "--set=training.epochs=2147483647")

    def test_candidates_of_a_search(self):
        self.write_task("split { known: 0 }")
        self.write_spec("seed: 0 validation_per_class: 10 search { method: 'softmax' criterion { accuracy {} } " +
                        axes(3000, "epochs", "batch_size", "max_steps") + "}")
        self.refused_plan("search[0]: 27000000000 candidates per trial exceed the limit of 1000000 in all")


if __name__ == "__main__":
    main()
