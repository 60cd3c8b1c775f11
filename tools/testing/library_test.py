#!/usr/bin/env python3
"""A user's own methods, presets, tasks and data sets in addition to those that come with the program."""
import sys

sys.path.insert(0, "tools/testing")
from arrays import read_npz  # noqa: E402
from program import ProgramTest, main, shipped  # noqa: E402

# Tasks and methods of the program and of the library, and one of the program's methods with a preset of the library.
STUDY = """name: 'study'
task: ['mnist', 'tiny']
method: ['mcp', 'mine', 'mcp+short']
split: 0
seed: 0
metric { auroc {} }
"""


class LibraryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("study.textproto", STUDY)

    def write_library(self, folder):
        """Four classes of grey 16x16 images without checksums, a task on them, a method and a preset."""
        parts = "".join(f"part {{ name: '{part}' samples: 40 samples_per_class: 10 idx {{ "
                        "images { path: 'tiny/images' } labels { path: 'tiny/labels' } } }\n"
                        for part in ("train", "test"))
        self.write(folder + "catalog/tiny_set.textproto", "name: 'tiny_set' class_name: ['a', 'b', 'c', 'd'] "
                   f"channels: 1 height: 16 width: 16 layout {{ {parts} }}")
        self.write(folder + "tasks/tiny.textproto",
                   "name: 'tiny' data_set: 'tiny_set' split { known: [0, 1] unknown: [2, 3] }")
        self.write(folder + "methods/mine.textproto", "base: 'mcp' title: 'Mine' score { max_logit {} }")
        self.write(folder + "presets/short.textproto", "training { epochs: 1 }")
        self.write("data/tiny/images", b"\0\0\x08\x03\0\0\0\x28\0\0\0\x10\0\0\0\x10" +
                   b"".join(bytes([20 * (i % 4)]) * 256 for i in range(40)))
        self.write("data/tiny/labels", b"\0\0\x08\x01\0\0\0\x28" + bytes(range(4)) * 10)

    def assert_planned(self, flags=""):
        out = self.out("plan study.textproto --noprobe" + flags)
        self.says(out, *(f"{method} on {task}, split 0, seed 0"
                         for method in ("mcp", "mine", "mcp+short") for task in ("tiny", "mnist")))

    def test_the_flag_adds_folders(self):
        self.write_library("lab/")
        self.write("other/methods/other.textproto", "base: 'mine' score { energy {} }")
        self.assert_planned(" --library=lab")
        self.assert_planned(" --library=lab,other")
        self.says(self.run_program("plan study.textproto --library=other").err,
                  "study.textproto:2: task[1]: unknown task 'tiny'")
        self.says(self.out("list method mine --library=lab"), "Mine")

    # Every command finds the files of the current folder without a flag.
    def test_the_current_folder_is_a_library(self):
        self.write_library("")
        self.write("specs/study.textproto", STUDY)
        self.program.path("study.textproto").unlink()
        for command, text in (("list method mine", "Mine"), ("show method mine", "max_logit"),
                              ("task splits tiny", "tiny"), ("data list", "tiny_set"),
                              ("plan study --noprobe", "mine on tiny, split 0, seed 0")):
            self.says(self.out(command), text)
        # `score` finds the task; only the network is missing.
        self.refused("score --task=tiny --model=nowhere.pt", "--model: cannot open")
        for command in ("score", "list", "show", "run"):
            self.says(self.out(command + " --help").replace("\n    ", " "),
                      "The current folder, the folders in the environment variable")

    def test_the_environment_adds_folders(self):
        self.write_library("lab/")
        self.program.environment["OPENSET_LIBRARY"] = "lab"
        self.assert_planned()

    def test_the_folder_of_the_spec_is_a_library(self):
        self.write_library("")
        self.assert_planned()

    # So is that of a task's file.
    def test_the_folder_of_the_task_is_a_library(self):
        self.write_library("lab/")
        task = "lab/tasks/tiny.textproto"
        self.says(self.out("task splits " + task), "tiny")
        self.says(self.out(f"task samples {task} --data=data"), "tiny_set")
        self.out(f"task samples {task} --data=data --out=samples --validation_per_class=2")
        for part, rows in (("test", 40), ("fit", 16), ("validation", 4)):
            arrays = read_npz(self.program.path(f"samples/{part}.npz"))
            self.assertEqual((arrays["class_names"].values, len(arrays["label"].values)), (["a", "b"], rows), part)
        self.refused(f"score --task={task} --model=nowhere.pt", "--model: cannot open")

    # The worker finds the data set, too.
    def test_it_trains_on_own_data(self):
        self.write_library("lab/")
        self.write("study.textproto", """
name: 'study' task: 'tiny' method: 'mine+short' seed: 0 metric { auroc {} }
override { model { osrci_cnn {} head { linear {} } } input { size: 16 channels: 1 mean: 0.5 std: 0.5 } }
""")
        self.out("run study.textproto --library=lab --data=data")
        record, = self.program.shown_records()
        self.assertEqual(record["counts"]["known"], "20")

    def test_a_clash_names_both_files(self):
        self.write_library("lab/")
        run, mcp, mnist = "run study.textproto --library=lab", "methods/mcp.textproto", "catalog/mnist.textproto"
        self.write("lab/" + mcp, "title: 'My own MCP'")
        self.refused(run, "study.textproto:3: method[0]: two files define method 'mcp': ", f"experiments/{mcp} and ",
                     "lab/" + mcp)
        self.write("lab/" + mcp, shipped("experiments/" + mcp))  # a copy
        self.write("lab/" + mnist, "name: 'mnist'")
        self.refused(run, "two files define data set 'mnist': ", "data/" + mnist, "lab/" + mnist)

    def test_a_folder_that_is_not_a_library(self):
        self.write("empty/readme", "")
        self.refused("plan study.textproto --library=empty", "--library: empty has none of methods/")
        self.refused("plan study.textproto --library=nowhere", "--library: nowhere doesn't exist")


if __name__ == "__main__":
    main()
