#!/usr/bin/env python3
"""Messages about presets: the file with an error, the fields that a preset replaces, grey presets on colour images."""
import sys

sys.path.insert(0, "tools/testing")
from program import NEAR_FAR_STUDY, NEAR_FAR_TASK, ProgramTest, main  # noqa: E402


class PresetsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("tasks/near_far.textproto", NEAR_FAR_TASK)

    def plan(self, methods, task="near_far", code=0):
        self.write("study.textproto", f"name: 'study' task: '{task}' method: {methods.split()} split: 0 seed: 0 "
                   "metric { auroc {} }")
        result = self.run_program("plan study.textproto --noprobe")
        self.assertEqual(result.code, code, result)
        return result

    # ARPL's loss needs the points of its head.
    def test_keep_the_head_that_a_loss_needs(self):
        self.assertEqual(self.plan("arpl+laptop").err, "")

    def test_errors_name_the_preset_that_replaces_the_head(self):
        self.write("presets/mine.textproto", "note: 'x'\nmodel {\n  osrci_cnn {}\n  head { linear {} }\n}\n")
        error = self.plan("arpl+mine", code=2).err
        self.says(error, "presets/mine.textproto:4: model.head: loss.term[1] needs a point per class: prototype or "
                  "reciprocal_point")
        self.says_not(error, "methods/arpl")

    def test_warns_about_replaced_parts(self):
        self.write("presets/mine.textproto", "note: 'x'\nmodel { osrci_cnn {} }\nscore { energy {} }\n")
        self.says(self.plan("knn+mine").err,
                  "warning: knn+mine: the preset replaces the method's score knn by energy (",
                  "presets/mine.textproto:3: score)")

    # A method that is trained twice.
    def test_say_which_training_they_leave_as_it_is(self):
        self.program.write_external_images()
        line = ("hint: energy+laptop: starts from a training of its own of 200 epochs, which presets and "
                "`override { training }` leave as it is: --set=pretraining.training.epochs=")
        self.write("study.textproto", "name: 'study' task: 'fashion_and_gradients' method: 'energy+laptop' split: 0 "
                   "seed: 0 metric { auroc {} }")
        self.says(self.program.must_run("plan study.textproto --noprobe --data=data").err, line)
        self.says_not(self.program.must_run("plan study.textproto --noprobe --data=data "
                                            "--set=pretraining.training.epochs=2").err, "starts from")

    def test_warns_once_about_methods_that_become_equal(self):
        line = "2 methods are the same trial: ce_plus+laptop_colour, max_logit+laptop_colour"
        same = self.plan("ce_plus+laptop_colour max_logit+laptop_colour").out
        self.says(same, f"\n{line}.\n")
        self.assertEqual(same.count(line), 1)
        self.says_not(self.plan("mcp+laptop max_logit+laptop").out, "the same trial")

    # The same warnings follow the tables of results.
    def test_reports_warn_too(self):
        self.write("methods/copy.textproto", "name: 'copy' base: 'max_logit'")
        self.write("study.textproto", NEAR_FAR_STUDY.replace('"mcp"', '"copy"').replace("[0, 1]", "0"))
        self.says(self.out("run study.textproto"), "\n2 methods are the same trial: copy, max_logit\n")

    def test_warns_about_grey_presets_for_colour_images(self):
        self.says(self.plan("max_logit+laptop", "cifar10").err,
                  "warning: max_logit+laptop sees grey images of 28 x 28 pixels, but the images of cifar10 are in "
                  "colour: another preset (laptop_colour), or input.channels, keeps the colours")
        self.assertEqual(self.plan("max_logit+laptop_colour", "cifar10").err, "")
        self.assertEqual(self.plan("max_logit+laptop").err, "")  # Fashion-MNIST is grey


if __name__ == "__main__":
    main()
