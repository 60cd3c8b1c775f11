#!/usr/bin/env python3
"""`openset list`, `show` and `help`, and the messages of commands that do nothing."""
import re
import sys

sys.path.insert(0, "tools/testing")
from program import ProgramTest, main, shipped  # noqa: E402
from samples import SCORES  # noqa: E402

STUDY = "name: 's' task: 'fashion_mnist_6_4' method: '{}'\nsplit: 0 seed: 0\nmetric {{ {} {{}} }}\n"


def first_words(text):
    return [line.split(" ")[0] for line in text.splitlines() if line]


class ShowTest(ProgramTest):
    def starts(self, command, text):
        out = self.out(command)
        self.assertEqual(out[:len(text)], text)

    def test_kinds_and_their_entries(self):
        self.says(self.out("list"), "method ")
        self.says(self.out("list methods"), "\nknn ",
                  "Sun et al. 2022, 'Out-of-distribution detection with deep nearest neighbors'")
        self.assertEqual(self.out("list methods --names").split(), first_words(self.out("list methods")))
        scores = self.out("list scores LOGIT")
        self.says(scores, "max_logit")
        self.says_not(scores, "entropy ")

    def test_a_method_is_complete_and_can_be_parsed(self):
        shown = self.out("show method knn")
        self.says(shown, "# Put together from\n#   experiments/methods/mcp.textproto\n"
                         "#   experiments/methods/knn.textproto\n",
                  "    # Added to the gradient: weight_decay * parameter.\n    weight_decay: 0.0005\n", "  knn {\n")
        # As a method's file, the output gives the same trials as "knn".
        self.write("copy.textproto", shown)
        trials = []
        for method in ("knn", "copy.textproto"):
            self.write("study.textproto", STUDY.format(method, "auroc"))
            trials.append([trial["id"] for trial in self.json("plan study.textproto")["trials"]])
        self.assertEqual(len(trials[0]), 1)
        self.assertEqual(*trials)

    # A method may be based on another one with a preset.
    def test_a_base_with_a_preset(self):
        self.write("methods/mine.textproto", "name: 'mine' base: 'mcp+laptop_colour' title: 'Mine'")
        self.says(self.out("show method mine"), "#   experiments/methods/mcp.textproto\n"
                  "#   experiments/presets/laptop_colour.textproto\n#   ./methods/mine.textproto\n", "\n  channels: 3\n")
        self.write("study.textproto", STUDY.format("mine", "auroc"))
        trials = [self.json("plan study.textproto" + flag)["trials"] for flag in ("", " --methods=mcp+laptop_colour")]
        self.assertEqual(*([trial["id"] for trial in of_method] for of_method in trials))

    # Each kind can be listed, and an entry of it shown with its source.
    def test_an_entry_of_each_kind(self):
        sources = {"method": "experiments/methods/", "preset": "experiments/presets/", "task": "data/tasks/",
                   "data": "data/catalog/", "spec": "experiments/specs/", "published": "experiments/published/",
                   "score": "eval/scores/score.proto", "metric": "eval/metrics/metric.proto",
                   "loss": "losses/loss.proto", "model": "models/model.proto", "head": "models/model.proto",
                   "augmentation": "data/augment/augment.proto", "source": ".proto",
                   "optimizer": "experiments/spec/optimizer.proto", "schedule": "experiments/spec/method.proto",
                   "inference": "experiments/spec/method.proto"}
        self.assertEqual(set(first_words(self.out("list"))), sources.keys())
        names = set()
        for kind, source in sources.items():
            entries = first_words(self.out("list " + kind))
            names.update(entries)
            self.says(self.out(f"show {kind} {entries[0]}"), source)
        # All names in the table of synonyms exist: in a list, as a field of a study, or as a metric at a level.
        table = re.findall(r'\{"[^"]+", \{(.*)\}\},', shipped("core/text/synonyms.cc"))
        self.assertGreater(len(table), 150)
        fields = set(re.findall(r"(\w+) = \d+", shipped("experiments/spec/experiment.proto")))
        levels = set(re.findall('"(.*?)"', " ".join(table))) - names - fields
        self.write("scores.csv", SCORES)
        self.assertEqual(self.values(f"eval scores.csv --metrics={','.join(levels)}").keys(), levels)

    def test_a_metric_has_its_unit_and_direction(self):
        self.starts("show metric aurc",
                    '# Shown as "AURC, x1000"; unit of the value: share; lower is better\n# AurcSpec, ')
        self.says(self.out("show metric known_unknown_ratio"), "; no quality\n")
        metrics = self.out("list metrics")
        for metric in first_words(metrics):
            self.out("show metric " + metric)
        self.says(metrics, "open_set_f_* are F-scores (Eq. 1 to 3 of OpenAUC), youden_* are Youden's J (Eq. 4)",
                  "over recall. (known = positive)\n")

    def test_fields_have_values_defaults_and_meanings(self):
        self.says(self.out("show loss open_auc"), "# OpenAucSpec, losses/loss.proto\n",
                  "surrogate   SQUARE | HINGE | SQUARED_HINGE | LOGISTIC; default SQUARE\n", "# max(0, 1 - t)\n",
                  "Beside it, of every LossTermSpec:\n", "\nlambda ")

    def test_synonyms_are_accepted(self):
        self.starts("list metrics fpr95", "fpr_at_95tpr ")
        self.assertEqual(self.out("list datasets"), self.out("list data"))
        self.starts("show metric fpr95", "# fpr95 is called fpr_at_95tpr here.\n")
        self.starts("show method msp+crop_flip", "# msp+crop_flip is called mcp+crop_flip here.\n")
        for command, text in (("metric E-AURC", "\n# EaurcSpec, "), ("method Max-Logit", 'name: "max_logit"\n'),
                              ("Methods OpenMax", 'name: "openmax"\n'), ("metric AUROC", "tied "),
                              ("score MSP", "# MSP is called max_softmax here.\n")):
            self.says(self.out("show " + command), text)

    def test_unknown_names_are_refused(self):
        self.refused("show metod knn", "unknown kind 'metod'; did you mean 'methods'?")
        self.refused("show method knnn", "unknown method 'knnn'; did you mean 'knn'?")
        self.fails("show method knn+vaze60", 2)
        self.fails("list scores zzz", 2)


class NamesTest(ProgramTest):
    # On the command line, similar names are accepted; in a spec, they are only suggested, because results are found by
    # them.
    def test_names_in_a_spec_are_suggested(self):
        for method, metric, error in (("MSP", "auroc", "unknown method 'MSP'; did you mean 'mcp'?"),
                                      ("mcp", "fpr95", "did you mean 'fpr_at_95tpr'?")):
            self.write("study.textproto", STUDY.format(method, metric))
            self.fails("plan study.textproto", 2, error)
        self.write("study.textproto", STUDY.format("mcp", "auroc"))
        self.assertEqual(self.out("plan study.textproto --methods=MSP,Max-Logit --format=csv"),
                         self.out("plan study.textproto --methods=mcp,max_logit --format=csv"))

    def test_a_study_in_the_folder_needs_no_ending(self):
        study = STUDY.format("mcp", "auroc")
        self.write("small.textproto", study)
        self.assertEqual(self.out("plan small --format=csv"), self.out("plan small.textproto --format=csv"))
        # The program has a different study with this name.
        self.write("quickstart.textproto", study)
        self.refused("plan quickstart", "'quickstart' may be quickstart.textproto or the study of that name in ",
                     "use 'quickstart.textproto' for yours")
        self.write("quickstart.textproto", shipped("experiments/specs/quickstart.textproto"))
        self.out("plan quickstart --format=csv")


class HelpTest(ProgramTest):
    def test_it_is_printed_by_each_of_its_names(self):
        for command in ("run -h", "run --help", "help run"):
            out = self.out(command)
            self.assertRegex(out, "^Runs the missing parts of a study")
            self.says(out, "usage: openset run SPEC")
        self.says(self.out("-h"), "usage: openset COMMAND ...")

    def test_defaults_end_with_one_full_stop(self):
        for command in ("run", "plan", "status", "report", "score", "eval", "compare", "threshold", "figure", "task",
                        "data", "records", "export", "serve", "reproduce"):
            out = self.out("help " + command)
            self.assertRegex(out, "[Dd]efault")
            self.says_not(out, "..\n")

    def test_the_seed_of_a_description_is_explained(self):
        self.says(" ".join(self.out("help data").split()), "With `describe`: seed of the train/test split that it draws")

    # A flag that several commands have says, in the help of one, nothing about the others.
    def test_it_is_about_its_command(self):
        for command in ("run", "plan", "report", "score", "eval", "compare", "threshold", "status", "records"):
            self.says_not(self.out("help " + command), "With `task`", "With `data`", "With `figure`", "task new:",
                          "STUDY_FIGURE")
        task = self.out("help task").replace("\n    ", " ")
        self.says(task, "With `new`, the data set of the task", "\n  --known  With `new`: how many classes are known",
                  "\n  --seed  With `new`: seed of the draws; ",
                  "\n  --test_limit  With `samples`: only the first N test samples")
        self.says_not(task, "instead: ", "bootstrap", "labels are used")
        self.says(self.out("help figure"), "STUDY_FIGURE.svg")

    # Of a subcommand: its usage, lines, flags and examples.
    def test_it_is_about_its_subcommand(self):
        for command in ("records ls --help", "help records ls"):
            ls = self.out(command)
            self.says(ls, "\nusage: openset records ls [BUNDLE] [QUERY]", "\nls ", "\n  openset records ls ", "\n  --sort  ")
            self.says_not(ls, "\ngc ", "openset records rm", "With `gc`", "\n  --older_than")
        self.says(self.out("records gc --help"), "\n  --older_than")

    def test_accuracy_is_no_f_score(self):
        self.says(self.out("show metric open_set_accuracy"), 'Shown as "open-set accuracy (best threshold on test), %"',
                  "open_set_accuracy is the share of all samples that are right")
        self.says(self.out("show metric open_set_f_macro"), 'Shown as "open-set F (macro, ')

    def test_an_archive_is_no_table(self):
        self.write("openset-store/version", "openset store 3\n")
        self.refused("records export --bundle=records.parquet",
                     "--bundle: records.parquet: a bundle's name must end in .zip; `openset report SPEC")
        self.assertFalse(self.program.path("records.parquet").exists())

    def test_what_gc_keeps_is_explained(self):
        self.write("openset-store/version", "openset store 3\n")
        self.assertEqual(self.out("records gc --older_than=0"),
                         "removed 0, 0 B; files younger than an hour stay, because a run may be writing them\n")


if __name__ == "__main__":
    main()
