#!/usr/bin/env python3
"""A study that is published as a folder with its spec and a bundle of its records."""
import shutil
import sys

sys.path.insert(0, "tools/testing")
from program import NEAR_FAR_STUDY, NEAR_FAR_TASK, ProgramTest, main  # noqa: E402


class PublishedFolderTest(ProgramTest):
    def write_study(self, task, *changes):
        text = NEAR_FAR_STUDY.replace('"near_far"', f'"{task}"')
        for old, new in changes:
            text = text.replace(old, new)
        self.write("results/study/study.textproto", text)

    def publish(self):
        self.out("run results/study/study.textproto")
        self.out("records export --bundle=results/study/study.zip")
        return min(self.program.records())

    # It is a study wherever it is copied, if its bundle has the task that its spec names in that folder.
    def test_it_can_be_copied(self):
        self.program.write_near_far_study()
        self.write_study("../../tasks/near_far.textproto")
        trial = self.publish()
        other = self.another_program("copied")

        def copy():
            shutil.copytree(self.program.path("results/study"), other.path("study"), dirs_exist_ok=True)

        copy()
        self.assertEqual(other.must_run("report study").out, self.out("report results/study"))
        self.assertRegex(other.must_run(f"explain study/study.zip {trial[:8]} study").out, "evaluate [0-9a-f]+: done")
        other.must_run(f"explain study {trial[:8]}")
        rows = other.must_run("records ls study method=mcp").out
        self.says(rows, "mcp")
        self.says_not(rows, "max_logit")
        self.says(other.run("explain study/study.zip").err, "name a trial of the bundle")

        # Without the task: what is missing, and how it is added.
        self.program.path("tasks/near_far.textproto").unlink()
        self.says(self.run_program("records export --bundle=results/study/study.zip").err,
                  "left out: tasks/near_far: is not in any library")
        copy()
        self.says(other.run("report study").err, "near_far.textproto: if the study was copied, copy this file")
        for command in ("records spec", "reproduce"):
            result = other.run(f"{command} study/study.zip {trial}")
            self.assertEqual(result.code, 2, result)
            self.says(result.err, "no library has the task 'near_far'", "study/study.zip doesn't contain it",
                      "--library=FOLDER")

    # A folder with a bundle and no spec is the bundle, for `compare` as for `report`.
    def test_a_bundle_alone_in_its_folder(self):
        self.program.write_near_far_study()
        self.write_study("../../tasks/near_far.textproto")
        self.publish()
        self.write("alone/records.zip", self.program.path("results/study/study.zip").read_bytes())
        compare = "compare {} --metrics=auroc --baseline=mcp --format=csv"
        self.assertEqual(self.out(compare.format("alone/")), self.out(compare.format("alone/records.zip")))
        self.fails("compare alone", 2, "unknown study 'alone'", "for the folder of that name, write alone/")
        self.fails("plan alone/", 2, "alone/: is a folder without a study, STUDY.textproto: write the path of one")
        self.write("empty/x", "")
        self.fails("compare empty/", 2, "empty/: is a folder without a bundle empty.zip")

    # The numbers of a folder are those of its bundle, also if the task beside it has changed since; a spec that has
    # changed, or another study's bundle, has none of them.
    def test_it_has_the_numbers_of_its_bundle(self):
        task, rate = "../tasks/near_far.textproto", ("0.02", "0.03")
        self.program.write_near_far_study()
        self.write_study(task)
        self.write("results/tasks/near_far.textproto", NEAR_FAR_TASK)
        trial = self.publish()
        before = self.out("report results/study")
        self.write("results/tasks/near_far.textproto", NEAR_FAR_TASK.replace("[3, 4]", "[3]"))
        report = self.program.must_run("report results/study")
        self.assertEqual(report.out, before)
        self.assertRegex(report.err, "hint: .*near_far.textproto: is not the task that came with the records in "
                                     ".*study.zip, which is used\n")
        commands = ("report results/study", "compare results/study", "figure results/study --improvement=auroc")
        self.write_study(task, rate)  # another spec
        for command in commands:
            self.fails(command, 2, "study.zip: has 4 records, all of other trials than ",
                       "(first difference: method.training.optimizer.learning_rate: 0.03, was 0.02)")
        self.write_study(task, rate, ('"study"', '"other"'))  # another study's bundle
        for command in commands:
            self.says(self.run_program(command).err, "the bundle is of the study 'study', not of ")
        self.write("results/study/study.textproto", "name: 3")  # one that can't be read at all
        self.assertRegex(self.run_program("report results/study").err,
                         "\n  the records alone need neither a spec nor data: name the bundle, "
                         ".*results/study/study.zip\n")
        # A study that was printed from a bundle, without the bundle.
        other = self.another_program("other")
        other.write("again.textproto", self.out(f"records spec results/study/study.zip {trial}"))
        self.says(other.run("plan again.textproto").err, "unknown task 'near_far'",
                  "put a copy of the bundle beside it")
        other.write("study.zip", self.program.path("results/study/study.zip").read_bytes())
        other.must_run("plan again.textproto")
        self.says(other.run(f"reproduce study.zip {trial} --store=mine").err,
                  "leave --store out; --again=FOLDER is the store of the new results")


if __name__ == "__main__":
    main()
