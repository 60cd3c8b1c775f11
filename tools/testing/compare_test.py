#!/usr/bin/env python3
"""openset compare, threshold and figure."""
import math
import re
import statistics
import sys

sys.path.insert(0, "tools/testing")
from arrays import f32, i64  # noqa: E402
from program import ProgramTest, main  # noqa: E402
from samples import logits  # noqa: E402

NORMAL = statistics.NormalDist()


def power_of_three(effect, level):
    """The power of a two-sided t test on three values; effect: the mean in standard errors.

    With 2 degrees of freedom, the variance has an exponential distribution, and Student's t has a closed form.
    """
    quantile = (1 - level) / math.sqrt(2 * (1 - level / 2) * level / 2)
    steps = 20000
    deviations = (math.sqrt(-math.log((i + 0.5) / steps)) for i in range(steps))
    return statistics.fmean(NORMAL.cdf(effect - quantile * x) + NORMAL.cdf(-effect - quantile * x) for x in deviations)


class CompareTest(ProgramTest):
    # With several pairs, each row has the interval on which its verdict is based.
    def check_holm(self, rows):
        for row in rows:
            if "absent" not in row:
                self.assertEqual(row["low_holm"] > 0 or row["high_holm"] < 0, row["verdict"] != "no detectable difference",
                                 row)

    def test_on_the_same_samples(self):
        for name, strength in (("weak", 1), ("medium", 1.2), ("strong", 3)):
            self.arrays(name + ".npz", **logits(strength, 300, 200))
        rows = self.json("compare weak.npz strong.npz --metrics=auroc --replicates=200")["comparisons"]
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertLess(row["high"], 0)
            self.assertEqual(row["verdict"], "strong is better")
            self.assertAlmostEqual(row["difference"], row["value_a"] - row["value_b"], delta=1e-15)
        three = "compare weak.npz medium.npz strong.npz --replicates=200"
        self.says(self.out(three),
                  "of this pair alone; low, high (Holm):\n  the interval at the level of Holm's procedure")
        rows = self.json(three)["comparisons"]
        self.assertGreater(len(rows), 3)
        self.check_holm(rows)
        for row in rows:
            self.assertTrue("absent" in row or row["low_holm"] <= row["low"], row)
        self.refused("compare weak.npz weak.npz", "weak.npz: is given twice; a method can't be compared with itself")
        self.refused("compare weak.npz ./weak.npz", "./weak.npz: is the same file as weak.npz")
        # One baseline, and DeLong's test alone, without draws.
        rows = self.json("compare weak.npz medium.npz strong.npz --metrics=auroc --baseline=strong --ci_method=delong "
                         "--replicates=1000000")["comparisons"]
        self.assertEqual([(row["a"], row["b"], row["test"]) for row in rows],
                         [("strong", "weak", "delong"), ("strong", "medium", "delong")])
        self.refused("compare weak.npz strong.npz --baseline=stong", "--baseline: unknown method 'stong'; did you mean 'str")
        self.refused("compare weak.npz strong.npz --baseline=weak --cost_map", "--baseline: --cost_map compares all")
        self.refused("compare weak.npz strong.npz --all_pairs", "--all_pairs: is for studies")
        self.arrays("fewer.npz", **logits(3, 30, 20))
        self.refused("compare weak.npz fewer.npz", "weak and fewer: ")
        # What these samples could not show: a z test with the standard error of DeLong's interval finds it in 4 of 5.
        for name, seed in (("one", 1), ("alike", 2)):
            self.arrays(name + ".npz", **logits(1, 3000, 2000, seed))
        alike = "compare one.npz alike.npz --metrics=auroc --ci_method=delong"
        row, = self.json(alike)["comparisons"]
        error = 100 * (row["high"] - row["low"]) / 2 / NORMAL.inv_cdf(0.975)
        said = re.search("no difference in AUROC between one and alike was detected .* With these samples, differences "
                         r"below about ([0-9.]+) points can't be detected; ([0-9.]+) times as many samples would be needed "
                         "for 1 point", self.out(alike + " --format=sentence"))
        detects = (NORMAL.inv_cdf(0.8) + NORMAL.inv_cdf(0.975)) * error
        self.assertAlmostEqual(float(said[1]), detects, delta=0.006)
        self.assertAlmostEqual(float(said[2]), detects**2, delta=0.5)  # the variance falls with the number
        self.assertAlmostEqual(100 * row["detects"], detects, delta=1e-6)
        # The same of a metric that only the bootstrap tests; an interval of replicates has no exact standard error. Many
        # times as many samples are written as a number.
        alike = "compare weak.npz alike.npz --metrics=fpr_at_95tpr --replicates=500"
        self.arrays("alike.npz", **logits(1, 300, 200, seed=2))
        row, = self.json(alike)["comparisons"]
        error = (row["high"] - row["low"]) / 2 / NORMAL.inv_cdf(0.975)
        self.assertAlmostEqual(row["detects"] / (NORMAL.inv_cdf(0.8) + NORMAL.inv_cdf(0.975)) / error, 1, delta=0.25)
        self.assertRegex(self.out(alike + " --format=sentence"),
                         "With these samples, differences below about [0-9.]+ points can't be detected; [0-9]+ times as many")

    # Two scores of the same samples: of the group "far" the first is above all known samples, the second is not.
    def test_one_group_of_unknown_samples(self):
        known = "label,prediction,unknown_score,group\n0,0,0.1,\n0,0,0.2,\n0,0,0.3,\n" + 2 * "-1,0,0.2,near\n"
        self.write("a.csv", known + 2 * "-1,0,0.9,far\n")
        self.write("b.csv", known + 2 * "-1,0,0.2,far\n")
        for group, difference in (("far", 0.5), ("near", 0), ("pool", 0.25)):
            rows = self.json(f"compare a.csv b.csv --metrics=auroc --replicates=50 --group={group}")["comparisons"]
            self.assertEqual(rows[0]["difference"], difference)
        self.refused("compare a.csv b.csv --group=fra", "--group: a.csv: unknown group 'fra'; did you mean 'far'?")
        self.write("runs.csv", "method,seed,group,auroc\na,0,far,0.5\na,1,far,0.6\nb,0,far,0.7\nb,1,far,0.9\na,0,,1\n")
        self.says(self.out("compare runs.csv --group=far"), "unknown samples: far")
        self.refused("compare runs.csv --group=near", "runs.csv: unknown group 'near'")

    # Two known and two unknown samples in each of three runs: AUROCs of 1, 1 and 0.75 against 0.5, 0.75 and 0.25, so
    # that the differences are 0.5, 0.25 and 0.5.
    def test_files_of_several_runs(self):
        for method, runs in (("ours", ("1234", "1234", "1324")), ("msp", ("1423", "1324", "2413"))):
            for seed, (a, b, c, d) in enumerate(runs):
                self.write(f"{method}_{seed}.csv", f"label,unknown_score\n0,0.{a}\n1,0.{b}\n-1,0.{c}\n-1,0.{d}\n")
        rows = self.json("compare msp_{seed}.csv ours_{seed}.csv --baseline=msp")["pairs"]
        auroc = next(row for row in rows if row["metric"] == "auroc")
        self.assertEqual(auroc["a"], "ours")
        self.assertAlmostEqual(auroc["mean_difference"], (0.5 + 0.25 + 0.5) / 3, delta=1e-12)
        self.says(self.out("compare ours_{seed}.csv msp_{seed}.csv --metrics=auroc --format=sentence"),
                  "Over 3 seeds of one split, ours had 41.67 points more AUROC than msp")
        self.fails("compare msp_{seed}.csv gone_{seed}.csv", 2)
        self.refused("compare msp_{seed}.csv msp_{seed}.csv", "msp_{seed}.csv: is given twice; a method can't be compared")
        self.write("ours_3.csv", "label,unknown_score\n0,0.1\n-1,0.2\n")  # msp has no run 3
        for form in ("sentence", "json", "csv"):
            ran = self.program.must_run(f"compare ours_{{seed}}.csv msp_{{seed}}.csv --metrics=auroc --format={form}")
            self.says(ran.err, "hint: left out: auroc: ours and msp: 1 run without a partner")
            if form == "sentence":
                self.says(ran.out, "Over 3 seeds of one split (1 run without a partner left out), ours had 41.67 points")
        self.fails("compare msp_{seed}.csv ours_0.csv", 2)
        # Joined, they would count as more samples.
        for joined in ("compare msp_0.csv,msp_1.csv ours_0.csv,ours_1.csv", "eval msp_0.csv msp_1.csv"):
            self.says(self.program.run(joined).err,
                      "hint: msp_0.csv, msp_1.csv: have the same labels in the same order.")

    # Also with names that are as long as half of a line: numbers stand for them.
    def test_tables_are_in_one_piece(self):
        names = [30 * f"{i}x" for i in range(3)]
        self.write("runs.csv", "method,split,auroc,accuracy\n" + "".join(
            f"{name},{split},0.{7 + i}{split * (i + 1)},0.8{i * split}\n"
            for i, name in enumerate(names) for split in range(3)))
        for i, name in enumerate(names):
            self.arrays(name + ".npz", **logits(1 + i))
        for compare in ("compare runs.csv", f"compare {'.npz '.join(names)}.npz --metrics=auroc,accuracy --replicates=50"):
            lines = self.out(compare).splitlines()
            self.assertLessEqual(max(map(len, lines)), 120)
            self.assertEqual(sum(line.startswith("a - b ") for line in lines), 2, compare)  # of two metrics
            self.assertLessEqual({f"[{i + 1}] {name}" for i, name in enumerate(names)}, set(lines))

    # On three splits, a is better than c by 10, 9 and 11 points, and than b by -1, 2 and -3.
    def test_what_could_not_be_found(self):
        splits = {"a": (80, 82, 81), "b": (81, 80, 84), "c": (70, 73, 70)}

        def write(name, methods):
            self.write(name, "method,split,auroc\n" + "".join(
                f"{method},{split},{value / 100}\n" for method in methods for split, value in enumerate(splits[method])))

        write("three.csv", "abc")
        # The table says that its p-values are adjusted.
        self.says(self.out("compare three.csv").replace("\n  ", " "), "  p (Holm)  ",
                  "p (Holm): of the t test, adjusted by Holm over the tests of a metric")
        better = self.out("compare three.csv --format=sentence").splitlines()[1]
        self.assertEqual(better, "On 3 splits, a had 10.00 points more AUROC than c (95 % interval 7.52 to 12.48 of this "
                                 "comparison alone; p = 0.0100 after Holm over 3 comparisons).")
        write("two.csv", "ab")
        self.says_not(self.out("compare two.csv"), "Holm")
        said = re.search("no difference in AUROC between a and b was detected .a minus b: -0.67 points; 95 % interval -6.92 "
                         "to 5.58; p = 0.6914.. With 3 splits, differences below about "
                         r"([0-9.]+) points can't be detected; ([0-9]+) more splits would be needed for 1 point\.$",
                         self.out("compare two.csv --format=sentence"))
        deviation = statistics.stdev((-1, 2, -3))
        self.assertAlmostEqual(power_of_three(float(said[1]) / deviation * math.sqrt(3), 0.05), 0.8, delta=0.003)
        # The normal distribution's number; Student's t needs a few more.
        needed = ((NORMAL.inv_cdf(0.8) + NORMAL.inv_cdf(0.975)) * deviation) ** 2
        self.assertTrue(needed < 3 + int(said[2]) < needed + 5, said)

    def test_runs(self):
        results = "method,task,split,seed,auroc\n"
        for task in range(6):
            for seed in range(4):
                base, more = 0.8 + 0.01 * task + 0.001 * seed, 0.05 + 0.0001 * (seed % 2)
                for method, value in (("a", base), ("b", base + more), ("c", base - more)):
                    results += f"{method},t{task},0,{seed},{value}\n"
        self.write("results.csv", results)
        json = self.json("compare results.csv --diagram=ranks.svg")
        self.assertEqual(len(json["pairs"]), 3 * 6)
        self.assertEqual(json["pairs"][0]["verdict"], "b is better")
        self.check_holm(json["pairs"])
        self.assertEqual(json["all_methods"][0]["mean_rank"], [2, 1, 3])
        self.assertEqual(json["all_methods"][0]["kendall_w"], 1)
        self.says(self.read("ranks.svg"), "critical difference")
        self.says(self.out("compare results.csv"), "auroc over 6 tasks")
        for name, text, error in (
                ("bad.csv", "method,auroc\na,x\n", "bad.csv: line 2: column 'auroc': 'x' is not a number"),
                ("twice.csv", "method,auroc\na,1\na,1\n", "twice.csv: line 3: there is a value of 'auroc' for a"),
                ("other.csv", "method,auroq\na,1\nb,1\n", "unknown metric 'auroq'; did you mean 'auroc'?"),
                ("results.json", "[]", "results.json: not in the format of `openset report")):
            self.write(name, text)
            self.refused("compare " + name, error)


class ThresholdTest(ProgramTest):
    def test_it_is_chosen_on_validation_samples_only(self):
        self.arrays("validation.npz", **logits(2))
        self.arrays("test.npz", **logits(1, 30, 50))
        alone, with_test = self.json("threshold validation.npz"), self.json("threshold validation.npz test.npz")
        self.assertEqual(alone["threshold"], with_test["threshold"])
        self.assertEqual(alone["validation"], with_test["validation"])
        self.assertEqual(with_test["test"]["n_unknown"], 50)
        self.assertEqual(alone["validation"]["known_accepted"], 0.95)  # 57 of 60
        for rule in ("unknown_rejected", "open_set_f_macro", "open_set_f_micro", "youden_macro", "youden_micro",
                     "nacc_rates", "open_set_accuracy", "conformal"):
            self.json("threshold validation.npz --rule=" + rule)
        risk = self.json("threshold validation.npz --rule=risk --target=0.2")
        self.assertLessEqual(risk["validation"]["risk"], 0.2)
        self.refused("threshold validation.npz --rule=risk_guaranteed --target=0.0001",
                     "no threshold can guarantee a risk of at most 0.0001 with probability 0.95",
                     "the smallest risk that these 100 samples can guarantee is ")
        self.says(self.out("threshold validation.npz test.npz"), "percent            of, or what")
        self.says(self.out("threshold validation.npz --rule=conformal").replace("\n  ", " "),
                  "\nguarantee: a new known sample is accepted with a probability of at least 0.95, over draws of it and of "
                  "the 60 known validation samples; if these are independent draws from one distribution and took no part "
                  "in the training.")
        self.refused("threshold validation.npz --rule=riks", "--rule: unknown rule 'riks'")
        self.refused("threshold validation.npz --target=95", "--target: must lie in 0 .. 1 (is 95)")
        # 40 copies of each test sample, as clusters, say hardly more than the samples (and not less).
        test = logits(1, 30, 50)
        label, values = test["label"].values, test["logits"].values
        self.arrays("copies.npz", label=i64(label * 40), cluster=i64(list(range(80)) * 40),
                    logits=f32(values * 40, 80 * 40, 3))
        alone = self.json("threshold validation.npz test.npz")["test"]["intervals"]["known_accepted"]
        ran = self.json("threshold validation.npz copies.npz")["test"]
        self.assertEqual(ran["n_clusters"], 80)
        low, high = ran["intervals"]["known_accepted"]
        self.assertLess(low, alone[0])
        self.assertGreater(high, alone[1])
        self.assertLess(high - low, 1.2 * (alone[1] - alone[0]))
        self.says(self.out("threshold validation.npz copies.npz"), "1200 known, 2000 unknown samples in 80 clusters",
                  "(of clusters: Clopper-Pearson by Korn and Graubard)")
        self.out("detector save validation.npz --score=energy --out=d.npz")
        self.says(self.out("detector apply d.npz copies.npz --out=decisions.csv"),
                  "95 % intervals of samples in 80 clusters:\nknown accepted")
        self.write("bad.csv", "label,prediction,unknown_score\n-1,0,0\n")
        self.refused("threshold bad.csv --rule=risk --target=0", "bad.csv: no threshold has a risk of at most 0")


class FigureTest(ProgramTest):
    def test_figures_of_the_papers(self):
        self.assertEqual(self.out("figure imbalance_figure_1 --folder=figures"),
                         "figures/imbalance_figure_1.svg\nfigures/imbalance_figure_1.csv\n")
        self.says(self.read("figures/imbalance_figure_1.svg"), "</svg>")
        self.refused("figure imbalance", "unknown figure 'imbalance'")
        self.write("mine.textproto", "name: 'mine' imbalance { classes: 1 }")
        self.refused("figure mine.textproto", "mine.textproto:1: imbalance.classes: must be at least 2 (is 1)")


if __name__ == "__main__":
    main()
