#!/usr/bin/env python3
"""The records of results/openauc_term: the variance and the splits of plan --power, computed again, and its page."""
import math
import statistics
import sys

sys.path.insert(0, "tools/testing")
from program import ROOT, ProgramTest, main, shipped  # noqa: E402

STUDY = str(ROOT / "results/openauc_term")


class PlanPowerTest(ProgramTest):
    def plan(self, difference):
        return self.json(["plan", STUDY, f"--power=auroc: {difference}"])

    def differences(self, method):
        """{split: the AUROC minus that of softmax, of each seed}, in the runs that both have."""
        runs = {(r["method"], r["split"], r["seed"]): r["auroc"]
                for r in self.json(["records", "ls", STUDY, "measured_on=test"]) if r["method"] in (method, "softmax")}
        found = {}
        for (name, split, seed), value in runs.items():
            if name == method and ("softmax", split, seed) in runs:
                found.setdefault(split, []).append(value - runs["softmax", split, seed])
        return found

    def test_parts_of_the_variance_and_splits(self):
        plan = self.plan(1.0)
        self.assertEqual((plan["baseline"], plan["group"], plan["difference"], plan["power"]), ("softmax", "pool", 0.01, 0.8))
        self.assertEqual(len(plan["rows"]), 19)
        self.assertAlmostEqual(plan["level"], 0.05 / 19)
        row, = (row for row in plan["rows"] if row["row"] == "ce_plus+crop_flip")
        # Two seeds of each of 30 splits: the expected mean square within splits is that of seeds, and that between splits
        # has twice the variance of splits more.
        of_split = self.differences("ce_plus+crop_flip")
        self.assertEqual({len(of_seeds) for of_seeds in of_split.values()}, {2})
        self.assertEqual((row["splits"], row["runs"]), (30, 60))
        within = statistics.mean(statistics.variance(of_seeds) for of_seeds in of_split.values())
        between = 2 * statistics.variance(map(statistics.mean, of_split.values()))
        self.assertAlmostEqual(row["mean_difference"], statistics.mean(map(statistics.mean, of_split.values())))
        self.assertAlmostEqual(row["variance_of_seeds"], within)
        self.assertAlmostEqual(row["variance_of_splits"], (between - within) / 2)
        self.assertIsNone(row["variance_of_images"])  # these records are older
        # The normal distribution's number for one seed; Student's t needs a few more.
        quantile = statistics.NormalDist().inv_cdf
        size = (quantile(1 - plan["level"] / 2) + quantile(0.8)) ** 2 * (within + (between - within) / 2) / 0.01**2
        self.assertGreaterEqual(row["splits_for_difference"], size)
        self.assertLess(row["splits_for_difference"], size + 10)
        # The pilot finds what it has the splits for.
        needed = math.sqrt((quantile(1 - plan["level"] / 2) + quantile(0.8)) ** 2 * between / 2 / 30)
        self.assertGreater(row["detects"], needed)
        self.assertLess(row["detects"], 1.15 * needed)

    # More seeds need fewer splits. The task lists 30, and the row that varies most takes more.
    def test_allocations(self):
        plan = self.plan(1.0)
        self.assertEqual([a["seeds"] for a in plan["allocations"]], [1, 2, 3, 5, 10])
        splits = [a["splits"] for a in plan["allocations"]]
        self.assertEqual(splits, sorted(splits, reverse=True))
        self.assertEqual(splits[0], max(row["splits_for_difference"] for row in plan["rows"]))
        self.assertFalse(any(a["cheapest"] for a in plan["allocations"]))
        self.says(self.out(["plan", STUDY, "--power=auroc: 1.0"]), "the task lists 30")
        # A difference that 30 splits find: the fewest CPU hours are marked.
        plan = self.plan(12.0)
        possible = [a for a in plan["allocations"] if a["splits"] <= 30]
        cheapest, = (a for a in plan["allocations"] if a["cheapest"])
        self.assertEqual(cheapest["cpu_hours"], min(a["cpu_hours"] for a in possible))

    # The page says of a trial that can end elsewhere that it can, and how many did not end.
    def test_the_page_names_runs_that_diverge(self):
        runs = [record for record in self.json(["records", "ls", STUDY, "method=openauc+crop_flip"])
                if record["lambda"] == 0.6]
        splits = {record["split"] for record in runs}
        page = " ".join(shipped("results/openauc_term/README.md").split())
        self.says(page, f"{60 - len(runs)} of the released form's 60 runs diverged",
                  f"are over the other {len(runs)}, of {len(splits)} draws",
                  "On another kind of CPU, a run that ended here can diverge: rounding decides.")

    # The bundle alone has the spec, whose first method is the baseline ("ce_plus+crop_flip" comes before it in the
    # alphabet). Where a search chose a method's own values, the records have the trial once, so those rows have fewer
    # runs.
    def test_of_a_bundle(self):
        def without_searches(plan):
            return {row["row"]: row for row in plan["rows"] if not row["row"].startswith("term_")}

        bundle = STUDY + "/openauc_term.zip"
        plan, of_study = self.json(["plan", bundle, "--power=auroc: 1.0"]), self.plan(1.0)
        self.assertEqual(plan["baseline"], "softmax")
        self.assertEqual(without_searches(plan), without_searches(of_study))
        self.assertEqual(len(without_searches(plan)), 7)
        self.assertEqual(self.json(["plan", bundle, "--power=auroc: 1.0", "--baseline=ce_plus+crop_flip"])["baseline"],
                         "ce_plus+crop_flip")

    # The first row has two seeds of 30 splits, the second one has one seed of five.
    def test_sentences_are_of_all_rows(self):
        self.out(["records", "export", "method=softmax or method=ce_plus+crop_flip or method=openauc+crop_flip and "
                  "lambda=0.1 and seed=0 and split<5", f"--store={STUDY}/openauc_term.zip", "--bundle=part.zip"])
        text = " ".join(self.out(["plan", "part.zip", "--power=auroc: 1.0"]).split())
        self.says(text, "Each split of openauc+crop_flip, lambda 0.1 has one seed, so the parts of splits and seeds are "
                  "not told apart", "The estimates are of 5 to 30 splits")
        text = " ".join(self.out(["plan", STUDY, "--power=auroc: 1.0"]).split())
        self.says(text, "The estimates are of 26 to 30 splits")
        self.says_not(text, "one seed, so")

    def test_refused(self):
        for words, message in ((["--power=auroc"], "--power=auroc: write METRIC: DIFFERENCE"),
                               (["--power=auroc: 0"], "--power=auroc: 0: write METRIC: DIFFERENCE"),
                               (["--power=nothing: 1"], "--power: unknown metric 'nothing'"),
                               (["--power=auroc: 1", "--baseline=nobody"], "unknown baseline 'nobody'")):
            self.refused(["plan", STUDY, *words], message)


if __name__ == "__main__":
    main()
