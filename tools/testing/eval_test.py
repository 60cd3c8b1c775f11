#!/usr/bin/env python3
"""openset eval, and the documented examples of eval, compare, threshold and figure."""
import math
import os
import re
import shlex
import sys

sys.path.insert(0, "tools/testing")
from arrays import f32, f64, i64, npy, read_npz, texts  # noqa: E402
from program import ProgramTest, main, shipped  # noqa: E402
from samples import SCORES, logits  # noqa: E402


class EvalTest(ProgramTest):
    def auroc(self, command):
        return self.json(command + " --metrics=auroc")["metrics"]["auroc"]["value"]

    # In 5 of the 4 x 2 pairs of a known and an unknown sample, the known one has the smaller score: AUROC 5/8. None of
    # these has the misclassified sample: OpenAUC 5/8.
    def test_json(self):
        self.write("scores.csv", SCORES)
        share = {"unit": "share", "higher_is_better": True}
        self.assertEqual(self.json("eval scores.csv --metrics=accuracy,auroc,openauc,known_unknown_ratio,nll"), {
            "n_known": 4, "n_unknown": 2,
            "metrics": {
                "accuracy": {"value": 0.75, "label": "accuracy", **share},
                "auroc": {"value": 0.625, "label": "AUROC", **share},
                "openauc": {"value": 0.625, "label": "OpenAUC", **share},
                "known_unknown_ratio": {"value": 2, "unit": "1", "higher_is_better": None, "label": "known : unknown"}},
            "absent": {"nll": "no logits"}})

    def test_every_metric_has_a_value_or_a_reason(self):
        self.write("known.csv", "label,prediction,unknown_score\n0,0,0.5\n1,0,0.5\n")
        json = self.json("eval known.csv")
        self.assertEqual((json["n_unknown"], json["absent"]["auroc"]), (0, "no unknown samples"))
        self.assertEqual(json["metrics"]["accuracy"]["value"], 0.5)
        self.assertEqual(len(json["metrics"]) + len(json["absent"]), len(self.out("list metrics").splitlines()))

    def test_full_precision(self):
        self.write("scores.csv", "label,prediction,unknown_score\n0,0,1\n0,0,2\n0,0,4\n-1,0,3\n")
        self.says(self.out("eval scores.csv --format=json --metrics=auroc"), "0.6666666666666666")
        self.says(self.out("eval scores.csv --format=csv --metrics=auroc"), "all,auroc,0.6666666666666666")

    def test_tables(self):
        self.write("scores.csv", SCORES)
        command = "eval scores.csv --metrics=auroc,aurc,nll"
        text = """scores.csv
unknown score: the file's
4 known samples of 2 classes, 2 unknown samples (known : unknown = 2 : 1)

metric  value   unit  better  label
-----------------------------------
auroc   62.50      %  higher  AUROC
aurc    62.50  x1000   lower   AURC

absent: nll (no logits)
"""
        self.assertEqual(self.out(command), text)
        self.assertEqual(self.out(command + " --format=text"), text)
        self.says(self.out(command + " --format=markdown"), "| auroc  | 62.50 |     % | higher | AUROC |")
        self.says(self.out(command + " --format=latex"), "  auroc & 62.50 & \\% & higher & AUROC \\\\\n")
        self.assertEqual(self.out(command + " --out=table.txt"), "")
        self.assertEqual(self.read("table.txt"), text)

    def test_intervals(self):
        self.arrays("logits.npz", **logits(2))
        command = "eval logits.npz --metrics=auroc,openauc,aurc,ece --ci --replicates=200 --seed 3 --level=0.9"
        json = self.json(command)
        self.assertEqual(self.json(command), json)
        for name, metric in json["metrics"].items():
            self.assertTrue(metric["low"] <= metric["value"] <= metric["high"] > metric["low"], (name, metric))
        delong = self.json(command + " --ci_method=delong")["metrics"]
        self.assertEqual(delong["auroc"]["value"], json["metrics"]["auroc"]["value"])
        self.assertNotEqual(delong["auroc"]["low"], json["metrics"]["auroc"]["low"])
        self.assertEqual(delong["aurc"], json["metrics"]["aurc"])

    def test_scores_of_logits(self):
        self.arrays("logits.npz", **logits(2))
        auroc = {score: self.auroc(f"eval logits.npz --score='{score}'")
                 for score in ("max_softmax", "max_logit", "energy", "energy { temperature: 100 }", "min_misclassification")}
        self.assertNotEqual(auroc["max_softmax"], auroc["max_logit"])
        self.assertNotEqual(auroc["energy"], auroc["energy { temperature: 100 }"])
        # Strictly decreasing functions of each other.
        self.assertEqual(auroc["max_softmax"], auroc["min_misclassification"])
        self.says(self.out("eval logits.npz --score=temperature_scaled_softmax --fit=logits.npz"),
                  "unknown score: temperature_scaled_softmax of the logits")

    # Mutual information separates all samples, and is refused if the file lacks it.
    def test_scores_of_several_passes(self):
        arrays = {"label": i64([0, 1, -1]), "logits": f32([2, 0, 0, 2, 1, 0], 3, 2)}
        self.arrays("one.npz", **arrays)
        self.refused("eval one.npz --score=mutual_information",
                     "score mutual_information: the score needs member_uncertainty")
        self.arrays("several.npz", **arrays, member_uncertainty=f32([0, 1, 0, .1, 1, 0, .2, 1, 0], 3, 3))
        self.assertEqual(self.auroc("eval several.npz --score=mutual_information"), 1)

    def test_groups_of_unknown_samples_of_other_tools(self):
        self.arrays("cifar10.npz", pred=i64([0, 1]), conf=f64([.9, .5]), label=i64([0, 1]))
        self.arrays("svhn.npz", pred=i64([1, 1]), conf=f64([.1, .7]), label=i64([7, 3]))
        self.arrays("dtd.npz", pred=i64([0]), conf=f64([.3]), label=i64([-1]))
        json = self.json("eval cifar10.npz svhn.npz dtd.npz --far=svhn,dtd --metrics=auroc,pooled_aurc")
        auroc = {name: group["metrics"]["auroc"]["value"] for name, group in json["groups"].items()
                 if "auroc" in group["metrics"]}
        self.assertEqual(auroc["svhn"], 3 / 4)  # of 4 pairs
        self.assertEqual(auroc["dtd"], 1)
        self.assertEqual(auroc["mean of far"], 0.875)
        self.assertEqual(json["groups"]["pool"]["n_unknown"], 3)
        self.assertEqual(json["metrics"]["auroc"]["value"], 5 / 6)
        self.assertAlmostEqual(sum(part["value"] for part in json["pooled_aurc_parts"].values()),
                               json["metrics"]["pooled_aurc"]["value"], delta=1e-15)

    def test_conventions(self):
        self.arrays("logits.npz", **logits(2))
        metrics = self.json("eval logits.npz --convention=openood")["metrics"]
        self.assertEqual(len(metrics), 5)
        self.assertIn("FPR@95", metrics)
        self.says(self.out("eval logits.npz --convention=arpl"),
                  "TNR: 1 - FPR; the threshold whose TPR is nearest to 95 %")
        known = re.search(r"\(known: (.*)\)", self.refused("eval logits.npz --convention=mine"))[1].split(", ")
        self.assertIn("pytorch_ood", known)
        for name in known:
            self.assertGreater(len(self.json("eval logits.npz --convention=" + name)["metrics"]), 1, name)

    def test_curves(self):
        self.arrays("logits.npz", **logits(2))
        self.out("eval logits.npz --curves=a/curves")
        for name in ("roc", "oscr", "risk_coverage", "risk_coverage_pool", "cost", "thresholds", "score_densities",
                     "reliability"):
            self.says(self.read(f"a/curves/{name}.svg"), "</svg>")
            self.says(self.read(f"a/curves/{name}.csv"), "\n")
        self.says(self.read("a/curves/index.html"), "OSCR", "known : unknown = 1.5 : 1")
        self.write("scores.csv", SCORES)
        self.out("eval scores.csv --curves=b")
        self.assertEqual(self.read("b/reliability.csv"), "")  # no logits
        self.says(self.read("b/roc.csv"), "threshold,unknown_accepted,known_accepted\n-inf,0,0\n0.1,0,0.25\n")

    # A Python without vl-convert draws nothing.
    def test_curves_without_pictures(self):
        self.arrays("logits.npz", **logits(2))
        self.write("python", "#!/bin/sh\necho this Python has no vl-convert-python >&2\nexit 1\n")
        os.chmod(self.program.path("python"), 0o700)
        self.program.environment["OPENSET_PYTHON"] = str(self.program.path("python"))
        result = self.program.must_run("eval logits.npz --curves=curves")
        self.says(result.out, "AUROC")
        self.says(result.err, "curves has the page and the tables, and no pictures: ",
                  "this Python has no vl-convert-python")
        self.says(self.read("curves/index.html"), "OSCR")
        self.says(self.read("curves/roc.csv"), "\n")
        self.assertEqual(self.read("curves/roc.svg"), "")

    # What is refused: eval/files/score_file_test.cc and sample_set_test.cc, and people/arrays_test.py.
    def test_bad_input_is_one_line(self):
        self.arrays("nan.npz", label=i64([0, 0]), prediction=i64([0, 0]), unknown_score=f64([0, math.nan]))
        self.assertEqual(self.refused("eval nan.npz"), "openset: nan.npz: array 'unknown_score', row 1: is NaN\n")
        self.assertEqual(self.refused("eval ."), "openset: . is a folder: name a file of scores in it (it has nan.npz)\n")

    # Likely mistakes are reported on standard error, after the table; they don't change the exit code.
    def test_hints_at_mistakes(self):
        def hints(known_score, prediction):
            """Of 60 known samples of three classes and 40 unknown ones; sample i has the prediction `prediction(i)`."""
            self.write("scores.csv", "label,prediction,unknown_score\n" + "".join(
                f"{i % 3 if i < 60 else -1},{prediction(i)},{known_score if i < 60 else 1}\n" for i in range(100)))
            result = self.program.must_run("eval scores.csv --metrics=aurc --format=json")
            self.says(result.out, '"aurc"')
            return result.err

        self.assertEqual(hints(0.5, lambda i: i % 3), "")
        negated = "hint: AUROC is 0.0 %: known samples have the larger unknown scores"
        self.assertEqual(hints(1.5, lambda i: i % 3),
                         negated + "; larger means more unknown here, and a file whose scores are larger for known samples "
                         "takes --higher_is_known\n")
        self.says(hints(0.5, lambda i: (i + 1) % 3),
                  "hint: accuracy is 0.0 %, and 100.0 % with the known classes in another order "
                  "(label 0 is prediction 1, label 1 is prediction 2, label 2 is")
        self.says(hints(0.5, lambda i: i // 3 % 3),
                  "hint: accuracy is 33.3 % on 60 known samples, no better than guessing ")
        # Only labels and scores that are larger for known samples: there is a hint, unless the flag is given.
        self.arrays("scoreonly.npz", label=i64([0] * 60 + [-1] * 40), unknown_score=f64([2] * 60 + [1] * 40))
        self.says(self.program.must_run("eval scoreonly.npz --metrics=auroc").err, negated)
        self.assertEqual(self.program.must_run("eval scoreonly.npz --metrics=auroc --higher_is_known").err, "")

    def test_bad_flags(self):
        self.write("scores.csv", SCORES)
        for flag, error in (
                ("--metrics=auroq", "--metrics: unknown metric 'auroq'; did you mean 'auroc'?"),
                ("--metrics=auroc,auroc", "there is another metric named 'auroc'"),
                ("--metrics='ece { bins: 0 }'", "ece.bins: must be at least 1 (is 0)"),
                ("--score=enery", "--score: unknown score 'enery'; did you mean 'energy'?"),
                ("--score=energy", "score energy: the samples have no logits"),
                ("--format=xml", "--format: unknown format 'xml' (known: text, markdown, latex, csv, json)"),
                ("--convention=mine", "--convention: unknown convention 'mine'"),
                ("--ci_method=magic", "--ci_method: unknown method 'magic'"),
                ("--replicates=0", "--replicates, --level, --threads: "),
                ("--near=svhn", "group 'svhn' has a role, but the samples have no groups")):
            self.refused("eval scores.csv " + flag, error)
        self.refused("eval", "usage: openset eval FILE...")

    # One file of known and one of unknown samples, whose largest logits are 2, 1, 0.5 and 0.1; labels are not needed if
    # all samples are unknown.
    def test_a_file_that_is_declared_unknown_needs_no_labels(self):
        self.arrays("known.npz", label=i64([0, 1]), logits=f32([2, 0, 0, 1], 2, 2))
        self.arrays("ood.npz", logits=f32([.5, 0, 0, .1], 2, 2))
        json = self.json("eval known.npz ood.npz --unknown=ood --metrics=auroc --score=max_logit")
        self.assertEqual((json["n_known"], json["n_unknown"], json["metrics"]["auroc"]["value"]), (2, 2, 1))
        self.refused("eval known.npz ood.npz --metrics=auroc", "ood.npz: has no array 'label'")

    # The largest logits are -0.011 on average, so ViM's factor would be negative.
    def test_vim_explains_why_it_cannot_be_used(self):
        self.arrays("net.npz", label=i64([i % 3 for i in range(12)]), logits=f32([-.011, -1, -1] * 12, 12, 3),
                    features=f32([i * (d + 2) % 7 for i in range(12) for d in range(6)], 12, 6),
                    head_weight=f32([0] * 18, 3, 6), head_bias=f32([-.011, -1, -1], 3))
        self.assertEqual(
            self.refused("eval net.npz --fit=net.npz --score=vim"),
            "openset: score vim: ViM can't be used: this network's largest logits average -0.011 on the training samples, "
            "and the score needs a positive number. Train longer, or drop vim\n")

    def test_higher_is_known(self):
        self.arrays("known.npz", label=i64([0, 1, -1, -1]), unknown_score=f64([.9, .6, .8, .1]))
        command = "eval known.npz --metrics=auroc"
        self.says(self.out(command + " --format=csv"), "all,auroc,0.25,")
        self.says(self.out(command + " --format=csv --higher_is_known"), "all,auroc,0.75,")
        self.says(self.out(command + " --higher_is_known"), "unknown score: minus the file's\n")
        self.refused(command + " --higher_is_known --score=energy", "--higher_is_known: applies to")
        self.arrays("logits.npz", **logits(2))
        self.refused("eval logits.npz --higher_is_known", "has no array 'unknown_score'")

    # With class names, three of five known samples are right (dog, cat and cat), and the table by class has the names.
    def test_names_of_classes(self):
        self.write("names.csv", "label;prediction;unknown_score\n"
                   'dog;dog;1\ncat;cat;2\ncat;dog;3\ncat;cat;4\ndog;"ox;2";5\n;cat;6\n')
        metrics = self.json("eval names.csv --metrics=accuracy,auroc --classes=classes.csv")["metrics"]
        self.assertEqual((metrics["accuracy"]["value"], metrics["auroc"]["value"]), (3 / 5, 1))
        self.says(self.read("classes.csv"), "class,samples,accuracy\ncat,3,0.6666666666666666\ndog,2,0.5\n", "ox;2,0,\n")
        self.out("threshold names.csv --confusion=confusion.csv")
        self.says(self.read("confusion.csv"), "class,cat,dog,ox;2,rejected\n")
        self.write("many.csv", "label;prediction;unknown_score\n5000;0;1\n0;0;2\n")
        self.out("eval many.csv --metrics=accuracy --classes=many_classes.csv")
        self.says(self.read("many_classes.csv"), "\n5000,1,0\n")
        self.refused("threshold many.csv --confusion=confusion.csv",
                     "--confusion: the table of 5001 classes is too large; it takes up to 5000")

    def test_errors_list_the_columns(self):
        self.write("scores.csv", ",y,msp\n0,1,0.5\n")
        self.assertEqual(self.refused("eval scores.csv"), "openset: scores.csv: has no column 'label' (it has (no name), "
                         "y, msp); is it 'y'? rename that to 'label'\n")
        self.write("scores.csv", "label\tmsp\n1\t0.5\n")
        self.assertEqual(self.refused("eval scores.csv"),
                         "openset: scores.csv: has no column 'unknown_score' or 'logit_0' (it has label, msp)\n")

    # Whether answers are right, without classes. By score: right, wrong, right, wrong.
    def test_right_and_wrong_answers(self):
        self.write("answers.csv", "unknown_score,correct\n0.1,1\n0.3,1\n0.2,0\n0.4,0\n")
        right = self.json("eval answers.csv")
        self.assertEqual((right["n_known"], right["n_unknown"], right["metrics"]["accuracy"]["value"]), (4, 0, 0.5))
        aurc, best = (0 + 1 / 2 + 1 / 3 + 2 / 4) / 4, (0 + 0 + 1 / 3 + 2 / 4) / 4
        self.assertAlmostEqual(right["metrics"]["aurc"]["value"], aurc, delta=1e-15)
        self.assertAlmostEqual(right["metrics"]["prediction_rejection_ratio"]["value"], (0.5 - aurc) / (0.5 - best),
                               delta=1e-15)
        self.assertEqual(right["absent"]["inner"], "needs the predicted classes; only right and wrong are known")
        self.assertEqual(right["absent"]["nll"], "no logits")
        threshold = self.json("threshold answers.csv --rule=risk --target=0.34")
        self.assertEqual(threshold["threshold"], 0.3)
        self.assertNotIn("open_set_f_macro", threshold["validation"])
        self.refused("threshold answers.csv --rule=youden_macro", "needs the predicted classes")
        self.refused("eval answers.csv --classes=c.csv", "needs predicted classes")
        # The same as a loss. Metrics of right and wrong answers are absent; risks are mean losses.
        self.write("loss.csv", "unknown_score,loss\n0.1,0\n0.3,0\n0.2,1\n0.4,1\n")
        loss = self.json("eval loss.csv")
        for name in ("aurc", "augrc", "prediction_rejection_ratio", "risk_at_coverage"):
            self.assertEqual(loss["metrics"][name]["value"], right["metrics"][name]["value"], name)
        self.assertEqual(loss["absent"]["accuracy"],
                         "needs answers that are right or wrong, and the samples have a loss")
        self.out("eval loss.csv --curves=curves")
        self.says(self.read("curves/risk_coverage.csv"), "\n")
        self.write("graded.csv", "unknown_score,loss\n0.1,0.25\n0.2,0.75\n")
        self.assertAlmostEqual(self.json("eval graded.csv --metrics=aurc")["metrics"]["aurc"]["value"], (0.25 + 0.5) / 2,
                               delta=1e-15)
        # Unknown samples have no answer.
        self.write("far.csv", "unknown_score\n0.35\n0.5\n")
        both = self.json("eval answers.csv far.csv --unknown=far --metrics=auroc,pooled_aurc")["metrics"]
        self.assertEqual(both["auroc"]["value"], 7 / 8)
        self.assertAlmostEqual(both["pooled_aurc"]["value"], (0 + 1 / 2 + 1 / 3 + 2 / 4 + 3 / 5 + 4 / 6) / 6, delta=1e-15)
        for name, text, error in (
                ("half.csv", "unknown_score,correct\n0.1,0.5\n", "line 2: column 'correct': is 0.5; it must be 0 or 1"),
                ("large.csv", "unknown_score,loss\n0.1,0.5\n0.2,7\n", "line 3: column 'loss': is 7; it must lie in 0 .. 1"),
                ("both.csv", "unknown_score,correct,prediction,label\n0.1,1,0,0\n",
                 "'correct' is there next to 'prediction'")):
            self.write(name, text)
            self.refused("eval " + name, error)


# DataFrame.to_csv() of labels with missing values (pandas 3.1.1). Of 24 pairs of a known and an unknown sample 17 are
# in order and 3 tied: 18.5 / 24. scikit-learn 1.9.1 (roc_auc_score, average_precision_score, roc_curve): AUROC
# 0.7708333333333334, AUPR 0.75 (unknown positive) and 0.8214285714285714 (known positive), FPR 0.5 at a TPR of 95 %.
TABLE = """,Label,Unknown_Score
0,0.0,0.125
1,1.0,0.25
2,2.0,0.5
3,1.0,0.5
4,0.0,0.75
5,2.0,-0.001
6,,0.5
7,,0.25
8,,0.875
9,,2.0
"""


class ScoresAloneTest(ProgramTest):
    """Files without predictions."""

    def test_metrics(self):
        self.write("scoreonly.csv", TABLE)
        json = self.json("eval scoreonly.csv")
        value = {name: metric["value"] for name, metric in json["metrics"].items()}
        self.assertEqual((json["n_known"], json["n_unknown"], value["known_unknown_ratio"]), (6, 4, 1.5))
        self.assertEqual((value["auroc"], value["fpr_at_95tpr"]), (18.5 / 24, 0.5))
        self.assertAlmostEqual(value["aupr_unknown"], 0.75, delta=1e-15)
        self.assertAlmostEqual(value["aupr_known"], 0.8214285714285714, delta=1e-15)
        self.assertEqual(len(value) + len(json["absent"]), len(self.out("list metrics").splitlines()))
        for name in ("accuracy", "openauc", "oscr", "aurc", "open_set_f_macro", "inner"):
            self.assertEqual(json["absent"][name], "no predictions")
        self.assertEqual(json["absent"]["ece"], "no logits")
        self.assertNotIn("pooled_aurc_parts", json)

    def test_absent_metrics_have_a_reason_in_each_format(self):
        self.arrays("scoreonly.npz", label=i64([0, 1, -1, -1]), unknown_score=f64([.1, .4, .2, .9]))
        command = "eval scoreonly.npz --metrics=auroc,accuracy,oscr"
        self.assertEqual(self.out(command), """scoreonly.npz
unknown score: the file's
2 known samples of 2 classes, 2 unknown samples (known : unknown = 1 : 1)

metric  value  unit  better  label
----------------------------------
auroc   75.00     %  higher  AUROC

absent: accuracy, oscr (no predictions)
""")
        self.says(self.out(command + " --format=markdown"), "* absent: accuracy, oscr (no predictions)\n")
        self.says(self.out(command + " --format=latex"), "% absent: accuracy, oscr (no predictions)\n")
        self.says(self.out(command + " --format=csv"), "all,accuracy,,,,no predictions,share,higher,accuracy\n")
        self.assertEqual(self.json(command)["absent"], {"accuracy": "no predictions", "oscr": "no predictions"})
        self.refused("eval scoreonly.npz --classes=classes.csv", "--classes: needs predicted classes")

    def test_intervals_and_curves(self):
        self.write("scoreonly.csv", TABLE)
        for method in ("bca", "delong"):
            json = self.json(f"eval scoreonly.csv --metrics=auroc,openauc --ci --ci_method={method} --replicates=200 "
                             "--curves=curves")
            self.assertLess(json["metrics"]["auroc"]["low"], 18.5 / 24)
            self.assertEqual(json["absent"]["openauc"], "no predictions")
        self.says(self.read("curves/roc.svg"), "</svg>")
        self.says(self.read("curves/score_densities.csv"), "low,high,known,unknown\n")
        for name in ("oscr", "risk_coverage", "risk_coverage_pool", "thresholds", "reliability"):
            self.assertEqual(self.read(f"curves/{name}.csv"), "")

    def test_compare_and_threshold(self):
        self.write("a.csv", TABLE)
        self.write("b.tsv", "label\tunknown_score\n0\t1\n1\t2\n2\t3\n1\t4\n0\t5\n2\t6\n\t7\nunknown\t8\n-1\t9\n\t10\n")
        for row in self.json("compare a.csv b.tsv --metrics=auroc,accuracy --replicates=200")["comparisons"]:
            if row["metric"] == "auroc":
                self.assertAlmostEqual(row["difference"], 18.5 / 24 - 1, delta=1e-15)
            else:
                self.says(row["absent"], "no predictions")
        # Five of the six known samples are accepted at 0.5: -0.001, 0.125, 0.25, 0.5, 0.5.
        threshold = self.json("threshold a.csv --target=0.8")
        self.assertEqual(threshold["threshold"], 0.5)
        self.assertEqual(threshold["validation"]["known_accepted"], 5 / 6)
        self.assertEqual(threshold["validation"]["unknown_rejected"], 0.5)
        self.says_not(threshold["validation"], "risk", "open_set_f_macro")
        self.says(self.out("threshold a.csv"), "no predictions: metrics that need them are absent\n")
        self.refused("threshold a.csv --rule=risk", "the rule needs predictions")
        self.refused("threshold a.csv --confusion=c.csv", "--confusion: needs predicted classes")


class MethodsTest(ProgramTest):
    """openset eval --as=methods. a.npz: AUROC 3/4, all predictions correct; b.npz: only scores, AUROC 1."""

    ALL = "eval a.npz b.npz --as=methods --metrics=auroc,accuracy "

    def setUp(self):
        super().setUp()
        self.arrays("a.npz", label=i64([0, 1, -1, -1]), prediction=i64([0, 1, 0, 1]), unknown_score=f64([.1, .4, .2, .9]))
        self.arrays("b.npz", label=i64([0, 1, -1, -1]), unknown_score=f64([1, 2, 3, 4]))

    def test_one_table(self):
        self.assertEqual(self.out(self.ALL), """a: a.npz, unknown score: the file's
b: b.npz, unknown score: the file's
2 known samples of 2 classes, 2 unknown samples (known : unknown = 1 : 1)

metric         a       b  unit  better     label
------------------------------------------------
auroc      75.00  100.00     %  higher     AUROC
accuracy  100.00       -     %  higher  accuracy

absent of b: accuracy (no predictions)
""")

    def test_each_method_has_the_same_numbers_alone(self):
        methods = self.json(self.ALL + "--ci --replicates=200")["methods"]
        for name in ("a", "b"):
            self.assertEqual(methods[name],
                             self.json(f"eval {name}.npz --metrics=auroc,accuracy --ci --replicates=200"))
        self.says(self.out(self.ALL + "--format=csv"), "\na,all,auroc,0.75,", "\nb,all,auroc,1,")
        self.says(self.out(self.ALL + "--format=markdown"), "| auroc    |  75.00 | 100.00 |")

    # The energy of the logits 0 and 0 is -log 2; of 0 and log 3, it is -log 4.
    def test_the_score_of_each_sample_is_written(self):
        self.arrays("logits.npz", label=i64([0, -1]), logits=f32([0, 0, 0, math.log(3)], 2, 2))
        self.out("eval logits.npz --score=energy --sample_scores=scores.npz")
        written = read_npz(self.program.path("scores.npz"))
        self.assertEqual(written["prediction"].values, [0, 1])
        for score, want in zip(written["unknown_score"].values, (-math.log(2), -math.log(4)), strict=True):
            self.assertAlmostEqual(score, want, delta=1e-6)
        self.assertEqual(written["label"].values, [0, -1])
        # With groups and clusters, the file has the same numbers and intervals.
        self.arrays("groups.npz", label=i64([0, 1, 0, -1, -1, -1]), group=i64([-1, -1, -1, 1, 0, 1]),
                    group_names=texts(["near", "far"]), cluster=i64([0, 0, 1, 2, 3, 3]),
                    logits=f32([0, 1, 3, 2, 5, 4, 1, 1, 0, 3, 2, 2], 6, 2))
        measure = "--metrics=accuracy,auroc,openauc --ci --replicates=50"
        groups = self.json(f"eval groups.npz --score=energy --sample_scores=scores.npz {measure}")
        self.assertEqual(self.json(f"eval scores.npz {measure}"), groups)
        self.assertEqual(read_npz(self.program.path("scores.npz"))["group"].values[:3], [-1, -1, -1])
        self.refused("eval a.npz b.npz --as=methods --sample_scores=scores.npz",
                     "--sample_scores: goes with one method")

    def test_latex_and_curves_in_one_picture(self):
        self.says(self.out(self.ALL + "--curves=c --format=latex"),
                  "auroc & 75.00 & 100.00 & \\% & higher & AUROC \\\\\n", "% absent of b: accuracy (no predictions)\n")
        self.says(self.out(self.ALL + "--rows=method --format=latex"), "method & AUROC, \\% & accuracy, \\% \\\\\n",
                  "b & 100.00 & - \\\\\n")
        self.says(self.read("c/roc.svg"), "a (AUROC 75.00 %)", "b (AUROC 100.00 %)")
        self.says(self.read("c/roc.csv"), "\na,0.1", "\nb,2,0,1\n")
        self.says(self.read("c/oscr.csv"), "\na,")
        self.says_not(self.read("c/oscr.csv"), "\nb,")
        self.says(self.read("c/index.html"), "100.00")

    # A method's samples may be in several files, for example one for each group of unknown samples.
    def test_groups_of_unknown_samples(self):
        self.write("known.csv", "label,unknown_score\n0,1\n1,3\n")
        self.write("svhn.csv", "label,unknown_score\n,2\n,4\n")
        self.write("dtd.csv", "label,unknown_score\n,5\n")
        methods = self.json("eval known.csv,svhn.csv,dtd.csv b.npz --as=methods --metrics=auroc")["methods"]
        groups = methods["known+svhn+dtd"]["groups"]
        self.assertEqual([groups[name]["metrics"]["auroc"]["value"] for name in ("svhn", "dtd")], [0.75, 1])
        self.assertEqual(methods["b"]["metrics"]["auroc"]["value"], 1)

    def test_bad_input(self):
        self.assertEqual(self.refused("eval a.npz a.npz --as=methods"), "openset: --as=methods: a.npz is given twice\n")
        self.refused("eval a.npz nowhere.npz --as=methods", "nowhere.npz: No such file or directory")
        self.refused("eval a.npz --as=methods --classes=c.csv", "--classes: goes with one method")
        self.refused("eval a.npz --as=methods --rows=metrics", "--rows: unknown value 'metrics'; did you mean 'metric'?")
        self.refused("eval a.npz --rows=method", "it goes with --as=methods")
        self.refused("eval a.npz --as=method", "unknown value 'method'; did you mean 'methods'?")


class ExamplesTest(ProgramTest):
    """The examples of the help and of the documents, with files of the names that they use."""

    # Of completed studies: run_test.py.
    OF_STUDIES = (" --curve=", " --x=", " --improvement=", " --softmax=", " lambda ", " quickstart ", " results.zip ",
                  "score_")

    def setUp(self):
        super().setUp()
        names = ("logits", "validation", "test", "softmax", "energy", "fit", "new", "a", "b", "a_fit", "b_fit")
        for seed, name in enumerate(names, 1):  # each file has other samples
            arrays = logits(2, seed=seed)
            if name in ("validation", "fit", "new", "a", "b", "a_fit", "b_fit"):
                arrays["features"] = arrays["logits"]
            self.arrays(name + ".npz", **arrays)
        self.write("scores.csv", SCORES)
        for run in range(3):  # AUROCs of 1, 1, 0.75; 1, 0.75, 0.5; 1, 1, 1
            for method, known in (("msp", 35 if run == 2 else 20), ("energy", 25 + 10 * run), ("ours", 20 + run)):
                self.write(f"{method}_{run}.csv", f"label,unknown_score\n0,10\n1,{known}\n-1,30\n-1,40\n")
        # The fifth of the answers with the largest scores is wrong.
        self.write("answers.csv", "unknown_score,correct\n" + "".join(f"{i},{int(i < 400)}\n" for i in range(500)))
        self.write("label.npy", npy(i64([0, 1, -1])))
        self.write("prediction.npy", npy(i64([0, 1, 1])))
        self.write("unknown_score.npy", npy(f64([1, 2, 3])))
        for name, label in (("cifar10", 0), ("cifar100", -1), ("svhn", -1)):
            self.arrays(name + ".npz", pred=i64([0, 1]), conf=f64([.3, .5]), label=i64([label, label]))
        self.arrays("raw_logits.npz", arr_0=f32([1, 0, 0, 0, 2, 0, 1, 1, 0, 3, 9, 2], 3, 4))
        self.write("results.csv", "method,task,split,seed,auroc,openauc\n"
                   "mcp,s,0,0,0.1,0.2\nmcp,s,0,1,0.2,0.3\nmcp,t,0,0,0.1,0.2\nmcp,t,0,1,0.2,0.3\n"
                   "b,s,0,0,0.2,0.2\nb,s,0,1,0.2,0.4\nb,t,0,0,0.1,0.3\nb,t,0,1,0.2,0.4\n"
                   "c,s,0,0,0.3,0.2\nc,s,0,1,0.2,0.4\nc,t,0,0,0.1,0.3\nc,t,0,1,0.3,0.5\n")

    def run_examples(self, text, indent):
        """Runs each line that starts with `indent` and "openset ", as a shell would; returns how many there are."""
        lines = [line[len(indent):] for line in text.splitlines() if line.startswith(indent + "openset ")]
        lines = [line for line in lines if not any(flag in line for flag in self.OF_STUDIES)]
        for line in lines:
            self.out(shlex.split(line, comments=True)[1:])
        return len(lines)

    def test_help(self):
        self.assertEqual(sum(self.run_examples(self.out("help " + command), "  ")
                             for command in ("eval", "compare", "threshold", "detector", "figure")), 24)

    def test_documents(self):
        self.assertEqual(self.run_examples(shipped("docs/eval.md"), "    "), 15)
        # own_images_test runs those of the way from a study to a detector.
        before, _, after = shipped("docs/decisions.md").partition("## From a study to a detector")
        after = after.partition("## ")[2]
        self.assertEqual(self.run_examples(before + after, "    "), 7)


if __name__ == "__main__":
    main()
