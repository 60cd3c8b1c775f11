#!/usr/bin/env python3
"""Tables of results and files of scores that people compared."""
import sys

sys.path[:0] = ["tools/testing", "tools/testing/people"]
from program import main  # noqa: E402
from situation import PeopleTest, answers, refuses  # noqa: E402

RESULTS = "compare results.csv"
HEADER = "method,task,split,seed,auroc"
ONE_RUN = "hfawaz/cd-diagram#5"
SPREAD = "scipy/scipy.org#172"


def results(*lines):
    return {"results.csv": "\n".join(lines) + "\n"}


def five_splits(more, header=HEADER, factor=1):
    """A row for each of two methods and five splits: a has 0.80 ... 0.84 and b `more` than that."""
    return results(header, *(f"{method},cifar,{split},0,{factor * (0.8 + 0.01 * split + added):.6g}"
                             for split in range(5) for method, added in (("a", 0), ("b", more))))


class CompareTest(PeopleTest):
    def test_runs_without_spread(self):
        self.check(
            # Ten points in each of five splits. Of the 2^5 signs of equal differences, 2 are as extreme: p = 0.0625.
            answers("the same difference in every split", SPREAD, five_splits(0.1), RESULTS,
                    "not tested: same difference in 5 splits", "-10.00", "0.0625", "no spread for a t test",
                    never=("no detectable difference", "inf", "nan")),
            answers("the same difference in JSON", SPREAD, five_splits(0.1), RESULTS + " --format=json",
                    '"cohen_dz": null', '"p": null', '"low": null', '"tested": false', '"wilcoxon_p": 0.0625',
                    never=("inf", "nan")),
            answers("rounded to three decimals", SPREAD,
                    results("method,split,auroc", "a,0,0.812", "a,1,0.834", "a,2,0.801", "b,0,0.813", "b,1,0.835",
                            "b,2,0.802"),
                    RESULTS, "not tested: same difference in 3 splits", "-0.10", "0.2500",
                    never=("no detectable difference",)),
            answers("equal in every run", SPREAD, five_splits(0), RESULTS, "equal in every run", "0.00",
                    never=("nan", "no detectable difference")),
            refuses("percent", SPREAD, five_splits(0.1, "method,task,split,seed,AUROC", 100), RESULTS,
                    "results.csv: auroc is a share, so it lies in 0 .. 1, and 10 of 10 values don't: 80 for a on "
                    "cifar, split 0, seed 0; are these percent? Divide the column by 100"))
        # What is printed as JSON is JSON.
        self.write("results.csv", five_splits(0.1)["results.csv"])
        pair, = self.json(RESULTS)["pairs"]
        self.assertAlmostEqual(pair["mean_difference"], -0.1, delta=1e-12)
        self.assertIsNone(pair["p_holm"])

    def test_runs(self):
        self.check(
            # Five methods that have the same order on ten tasks, with one run each (Demsar's table): mean ranks 1
            # ... 5; Nemenyi's critical difference for 5 methods and 10 tasks is 2.728 sqrt(5 * 6 / 60) = 1.93.
            answers("many tasks with a run each", "hfawaz/cd-diagram#1",
                    results(HEADER, *(f"{method},t{task},0,0,{0.5 + 0.08 * m + 0.001 * task:.6g}"
                                      for task in range(10) for m, method in enumerate("ABCDE"))),
                    RESULTS, "Kendall's W 1.00", "critical\n  difference of mean ranks 1.93",
                    "left out: auroc: 100 pairs of methods and tasks (A and B on t0, A and B on t1, A and B on t2, "
                    "...): two runs", "assumes: tasks are independent", never=("assumes: ;", "A and B on t3")),
            refuses("one run each", ONE_RUN, results("method,auroc", "a,0.8", "b,0.9"), RESULTS,
                    "results.csv: nothing can be compared: auroc: a and b: two runs are needed, and they have one in "
                    "common"),
            answers("runs without a partner", ONE_RUN,
                    results(HEADER, "a,c,0,0,0.80", "b,c,0,0,0.7", "a,c,1,0,0.81", "b,c,1,0,0.72", "a,c,2,0,0.82",
                            "b,c,2,0,0.76", "a,c,3,0,0.9", "b,c,4,0,0.9"),
                    RESULTS, "left out: auroc: a and b on c: 2 runs without a partner (the same split and seed of the "
                             "other method)"),
            answers("left out of CSV", ONE_RUN,
                    results("method,split,auroc", "a,0,0.8", "a,1,0.81", "a,2,0.82", "b,0,0.7", "b,1,0.72", "b,2,0.71",
                            "b,3,0.7"),
                    RESULTS + " --format=csv", "auroc,,a,b,3,3,",
                    "hint: left out: auroc: a and b: 1 run without a partner"),
            answers("two splits", ONE_RUN,
                    results("method,split,auroc", "a,0,0.8", "a,1,0.81", "b,0,0.7", "b,1,0.7101"), RESULTS,
                    "not tested: fewer than 3 splits (2)", never=("is better", "no detectable difference")),
            refuses("one run twice", ONE_RUN, results(HEADER, "a,c,0,0,0.8", "a,c,0,0,0.81", "b,c,0,0,0.7"), RESULTS,
                    "results.csv: line 3: there is a value of 'auroc' for a, c, split 0, seed 0 already"))

    def test_files_of_scores(self):
        a = "label,unknown_score\n0,0.1\n0,0.2\n-1,0.15\n-1,0.9\n"
        self.check(
            refuses("a file and itself", SPREAD, {"a.csv": a}, "compare a.csv ./a.csv",
                    "./a.csv: is the same file as a.csv; a method can't be compared with itself"),
            answers("a copy of a file", SPREAD,
                    {"a.csv": a, "b.csv": "label;unknown_score\n0;0.10\n0;0.20\n-1;0.150\n-1;0.9\n"},
                    "compare a.csv b.csv --metrics=auroc --replicates=50",
                    "hint: a and b have the same scores and predictions for every sample: is one a copy of the other?"),
            refuses("nothing to compare", SPREAD,
                    {"a.csv": "label,unknown_score\n0,0.1\n0,0.2\n", "b.csv": "label,unknown_score\n0,0.1\n0,0.3\n"},
                    "compare a.csv b.csv --metrics=auroc --replicates=50",
                    "a and b: nothing can be compared: auroc: no unknown samples"))

    def test_columns(self):
        def exported(run, state, method, split, auroc):
            return f'"r{run}","{state}","{method}","cifar10","{split}","0","{auroc}",""'

        # The mean of -0.0139, -0.0282, -0.0163 and -0.0151 is -0.0184.
        pairs = (("0.8065", "0.8204"), ("0.8002", "0.8284"), ("0.8059", "0.8222"), ("0.8075", "0.8226"))
        self.check(
            answers("exported runs", "wandb/wandb#4501",
                    results('"Name","State","method","task","split","seed","auroc","auroc__MIN"',
                            *(exported(2 * split + m, "finished", method, split, pair[m])
                              for split, pair in enumerate(pairs) for m, method in enumerate(("msp", "energy"))),
                            exported(8, "crashed", "energy", 4, "")),
                    RESULTS, "energy is better", "-1.84", "hint: ignored, because they are neither metrics nor name a "
                    "run: Name, State, auroc__MIN", "hint: without a value of any metric: line 10"),
            refuses("exported runs without a method", "wandb/wandb#4501",
                    results("Name,State,auroc", "r0,finished,0.8"), RESULTS,
                    "line 1: there is no column 'method' (there are Name, State, auroc): give this name to the column "
                    "that says which method a row is of"),
            # FPR is better if it is smaller: a has 10 points more of it and of AUROC.
            answers("usual names of metrics", "wandb/wandb#5349",
                    results("Method,Task,Split,Seed,AUROC,fpr95", "a,c,0.0,0.0,0.7,0.5", "b,c,0.0,0.0,0.6,0.4",
                            "a,c,1.0,0.0,0.7,0.5", "b,c,1.0,0.0,0.61,0.39", "a,c,2.0,0.0,0.7,0.5",
                            "b,c,2.0,0.0,0.59,0.41"),
                    RESULTS + " --format=csv", "auroc,c,a,b,3,3,0.0999999", "a is better,share,AUROC",
                    "fpr_at_95tpr,c,a,b,3,3,", "b is better,share,"),
            refuses("other names of columns", "wandb/wandb#5349",
                    results("method,dataset,fold,auroc", "a,c,0,0.8", "a,c,1,0.9", "b,c,0,0.7", "b,c,1,0.8"), RESULTS,
                    "results.csv: line 3: there is a value of 'auroc' for a already",
                    "there is no 'task' and no 'split'", "(there are dataset, fold)"),
            refuses("metrics as rows", "gary23ai/ARPL#2",
                    results(",0,1,2", "TNR,34.0,30.6,22.6", "AUROC,86.9,85.6,84.3"), RESULTS,
                    "results.csv: line 1: there is no column 'method'"),
            refuses("means with their spread", "gary23ai/ARPL#2", results("method,split,auroc", "a,0,86.9 ± 0.3"),
                    RESULTS, "line 2: column 'auroc': '86.9 ± 0.3' is not a number"))

    # The first score ranks all samples right; the second gives a known one the unknown one's score.
    def test_maps_of_costs(self):
        self.write("a.csv", "label,unknown_score\n0,0.1\n0,0.2\n-1,0.9\n")
        self.write("b.csv", "label,unknown_score\n0,0.1\n0,0.9\n-1,0.9\n")
        self.write("results.csv", five_splits(0.1)["results.csv"])
        options = " --cost_map --replicates=50"
        self.says(self.out("compare a.csv b.csv" + options), "A: a", "B: b", "the method of the least expected cost",
                  "A is best in ", "--format=csv")
        self.says(self.out("compare a.csv b.csv --format=csv --metrics='expected_cost { error_cost: 0 }'" + options),
                  "\n0.5,1,b,0.25,")  # accepts the unknown one, or rejects a known one
        for files, error in (
                ("a.csv b.csv --metrics=auroc", "--metrics: must be expected_cost alone for --cost_map"),
                ("a.csv b.csv --metrics='expected_cost { prevalence: 0.1 }'",
                 "--metrics: leave out prevalence and unknown_cost, which --cost_map varies"),
                ("a.csv b.csv --format=sentence", "--cost_map: can't be written as sentences"),
                ("results.csv", "--cost_map: compares scores on the same samples")):
            self.refused(f"compare {files}{options}", error)


if __name__ == "__main__":
    main()
