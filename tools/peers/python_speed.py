r"""Measures the time of the Python package, scikit-learn and torchmetrics, as a table in Markdown.

    bazel build //tools/python/library:libopenset_measures.so
    OPENSET_MEASURES=bazel-bin/tools/python/library/libopenset_measures.so PYTHONPATH=tools/python \
        python3 tools/peers/python_speed.py [--samples=N] [--times=N]

Needs numpy, pandas and scikit-learn; torchmetrics is omitted if it is not installed. All of them compute the AUROC,
both AUPRs, the accuracy and the FPR at a TPR of 95 % of the same samples; the first four must agree to 1e-5. Times are
CPU times of the process and its children, the least of several, so that other load matters little.
"""
import argparse
import importlib.util
import os
import subprocess
import sys

import numpy
from sklearn import metrics as sklearn_metrics

import openset


def cpu_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def least(function, times):
    """(seconds, what the function returns)"""
    best, result = float("inf"), None
    for _ in range(times):
        start = cpu_seconds()
        result = function()
        best = min(best, cpu_seconds() - start)
    return best, result


def import_seconds(statement, times):
    """The time of a new process, without the start of the interpreter."""
    def run(text):
        subprocess.run([sys.executable, "-c", text], check=True)

    return max(0, least(lambda: run(statement), times)[0] - least(lambda: run("pass"), times)[0])


def by_scikit_learn(label, prediction, score):
    is_unknown = label < 0
    fpr, tpr, _ = sklearn_metrics.roc_curve(~is_unknown, -score)
    return {"auroc": sklearn_metrics.roc_auc_score(is_unknown, score),
            "aupr_unknown": sklearn_metrics.average_precision_score(is_unknown, score),
            "aupr_known": sklearn_metrics.average_precision_score(~is_unknown, -score),
            "accuracy": sklearn_metrics.accuracy_score(label[~is_unknown], prediction[~is_unknown]),
            "fpr_at_95tpr": fpr[(tpr >= 0.95).argmax()]}


def by_torchmetrics(label, prediction, score):
    import torch
    from torchmetrics.functional import classification
    score, label, prediction = (torch.from_numpy(values) for values in (score, label, prediction))
    is_unknown = (label < 0).long()
    probability = torch.sigmoid(score)
    known = is_unknown == 0
    fpr, tpr, _ = classification.binary_roc(1 - probability, 1 - is_unknown)
    return {"auroc": float(classification.binary_auroc(probability, is_unknown)),
            "aupr_unknown": float(classification.binary_average_precision(probability, is_unknown)),
            "aupr_known": float(classification.binary_average_precision(1 - probability, 1 - is_unknown)),
            "accuracy": float((label[known] == prediction[known]).double().mean()),
            "fpr_at_95tpr": float(fpr[(tpr >= 0.95).long().argmax()])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000000)
    parser.add_argument("--times", type=int, default=5)
    flags = parser.parse_args()
    samples, times = flags.samples, flags.times
    random = numpy.random.default_rng(1)
    label = numpy.where(random.random(samples) < 0.5, random.integers(0, 10, samples), -1)
    prediction = numpy.where(random.random(samples) < 0.9, numpy.maximum(label, 0), 3)
    score = random.normal(size=samples) + (label < 0)
    names = ["auroc", "aupr_unknown", "aupr_known", "accuracy", "fpr_at_95tpr"]

    seconds, found = {}, {}
    seconds["openset"], evaluation = least(lambda: openset.evaluate(label=label, prediction=prediction,
                                                                    unknown_score=score, metrics=names), times)
    found["openset"] = {name: evaluation[name] for name in names}
    libraries = {"scikit-learn": (by_scikit_learn, "import sklearn.metrics")}
    if importlib.util.find_spec("torchmetrics"):
        libraries["torchmetrics"] = by_torchmetrics, "import torchmetrics"
    imports = {"openset": import_seconds("import openset", times)}
    for name, (function, statement) in libraries.items():
        seconds[name], found[name] = least(lambda: function(label, prediction, score), times)
        imports[name] = import_seconds(statement, times)
        for metric in names[:4]:
            difference = abs(found[name][metric] - found["openset"][metric])
            assert difference < 1e-5, (name, metric, found[name][metric], found["openset"][metric])

    # Too short for the clock of CPU time: the mean of many. scikit-learn has no tables; this is pandas'.
    rounds = 200
    html = {"openset": least(lambda: [evaluation._repr_html_() for _ in range(rounds)], times)[0] / rounds,
            "scikit-learn": least(lambda: [evaluation.to_frame().to_html() for _ in range(rounds)], times)[0] / rounds}
    print(f"| {samples} scores | {' | '.join(seconds)} |\n|{' --- |' * (len(seconds) + 1)}")
    for what, found_times in (("import", imports), ("five metrics", seconds), ("HTML of the table", html)):
        cells = [f"{1000 * found_times[name]:.3g} ms" if name in found_times else "" for name in seconds]
        print(f"| {what} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
