"""Writes the sections of eval/testdata/statistics.json for which it has a function; other sections don't change.

    python3 tools/peers/make_statistics_golden.py eval/testdata/statistics.json

The stored file was made with NumPy 2.4.6, SciPy 1.17.1 and statsmodels 0.15.0 on x86-64.
"""

import itertools
import json
import sys

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint


def clopper_pearson():
    cases = []
    for k, n, confidence in [(0, 10, 0.95), (10, 10, 0.95), (3, 17, 0.95), (59, 60, 0.9), (1, 1000, 0.99), (500, 1000, 0.95)]:
        low, high = proportion_confint(k, n, 1 - confidence, method="beta")
        cases.append({"k": k, "n": n, "confidence": confidence, "low": float(low) if k else 0.0,
                      "high": float(high) if k < n else 1.0})
    return cases


def wilcoxon_exact():
    """scipy's permutation method goes through all signs where there are few enough."""
    cases = {
        "equal": [1, 1, 1, 1, 1],
        "ties": [1, -1, 2, 2, 3, -4, 4, 5],
        "zeros": [0, 0, 1, -2, 3, 4, 5, 6],
        "ties_and_zeros": [0, 0.5, -0.5, 0.5, 2, 2, -1],
        "one_side": [0.5, 0.5, 0.25, 0.125],
    }
    return [{"name": name, "differences": d,
             "p": float(stats.wilcoxon(d, method=stats.PermutationMethod(n_resamples=np.inf)).pvalue)}
            for name, d in cases.items()]


def rank_rows(values, higher):
    values = np.asarray(values, float)
    return np.apply_along_axis(stats.rankdata, 1, -values if higher else values)


def friedman(old):
    for case in old:
        values = np.reshape(case["values"], (-1, int(case["methods"])))
        n, k = values.shape
        chi2 = stats.friedmanchisquare(*rank_rows(values, case["higher"]).T).statistic
        case["f"] = float((n - 1) * chi2 / (n * (k - 1) - chi2))
        case["f_p"] = float(stats.f.sf(case["f"], k - 1, (k - 1) * (n - 1)))
    return old


def friedman_exact():
    """All orders of every row's ranks."""
    random = np.random.default_rng(5)
    cases = []
    for name, n, k, levels in [("3x3", 3, 3, 100), ("4x3", 4, 3, 100), ("3x4", 3, 4, 100), ("4x3_ties", 4, 3, 3), ("3x4_ties", 3, 4, 3)]:
        values = random.integers(0, levels, (n, k)) + (np.arange(k) if levels == 100 else 0) * 20
        ranks = rank_rows(values, True)
        observed = (ranks.sum(0) ** 2).sum()
        orders = [list(itertools.permutations(row)) for row in ranks]
        at_least = total = 0
        for rows in itertools.product(*orders):
            total += 1
            at_least += (np.sum(rows, axis=0) ** 2).sum() >= observed - 1e-9
        cases.append({"name": name, "methods": k, "values": values.ravel().tolist(), "p": at_least / total})
    return cases


def delong(old):
    z = stats.norm.ppf(0.975)
    for case in old:
        for part in ("auroc", "openauc"):
            a, se = case[part]["value_0"], case[part]["se_0"]
            centre, width = np.log(a / (1 - a)), z * se / (a * (1 - a))
            case[part]["logit_low"] = float(1 / (1 + np.exp(width - centre)))
            case[part]["logit_high"] = float(1 / (1 + np.exp(-width - centre)))
    return old


def main():
    path = sys.argv[1]
    with open(path) as file:
        golden = json.load(file)
    golden["friedman"] = friedman(golden["friedman"])
    golden["delong"] = delong(golden["delong"])
    golden["clopper_pearson"] = clopper_pearson()
    golden["wilcoxon_exact"] = wilcoxon_exact()
    golden["friedman_exact"] = friedman_exact()
    for case in golden["paired"]:  # ties and zeros too are exact now
        d = np.subtract(case["a"], case["b"])
        if np.count_nonzero(d) <= 20:
            d = np.round(d, 10)
            case["wilcoxon_p"] = float(stats.wilcoxon(d, method=stats.PermutationMethod(n_resamples=np.inf)).pvalue)
    with open(path, "w") as file:
        file.write("{\n")
        for i, (key, value) in enumerate(golden.items()):
            end = "" if i + 1 == len(golden) else ","
            if isinstance(value, list):
                rows = ",\n".join(json.dumps(row) for row in value)
                file.write(f"{json.dumps(key)}: [\n{rows}\n]{end}\n")
            else:
                file.write(f"{json.dumps(key)}: {json.dumps(value)}{end}\n")
        file.write("}\n")


if __name__ == "__main__":
    main()
