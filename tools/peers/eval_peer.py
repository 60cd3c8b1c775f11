"""The numbers and the time of `openset eval` against scikit-learn and NumPy, on the same samples, in one run.

    bazel build //tools:openset
    python3 tools/peers/eval_peer.py --openset=bazel-bin/tools/openset [--samples=1000000] [--rounds=5]

The peer is scikit-learn where it has the metric, and else a restatement of what the released code of OpenAUC (masked
AUC, F-scores over 99 thresholds), ARPL (OSCR) and the unknown-detection benchmark (AURC) computes, vectorised in NumPy:
OSCR and the F-scores are loops over samples there, so this is faster than the original. It starts from arrays in memory;
the time of openset is for the whole process, with start and reading of the file. Prints the largest difference of
any metric, which must be below 1e-9, and the ratio of the median times. Needs numpy and scikit-learn.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn import metrics

CLASSES = 10
METRICS = (
    "accuracy, auroc, aupr_unknown, aupr_known, fpr_at_95tpr, fpr_at_95tpr_unknown_positive, error_at_95tpr, openauc, "
    "oscr { form: LEGACY }, open_set_f_macro { at { best_on_grid {} } }, open_set_f_micro { at { best_on_grid {} } }, "
    "aurc { form: INPUT_ORDER }, inner, outer, halfpoint, overall"
)


def made_up(samples, seed):
    """As many known as unknown samples; scores in (0, 1) without ties."""
    random = np.random.default_rng(seed)
    label = np.where(random.random(samples) < 0.5, random.integers(0, CLASSES, samples), -1)
    right = (label >= 0) & (random.random(samples) < 0.8)
    prediction = np.where(right, label, random.integers(0, CLASSES, samples))
    score = 1 / (1 + np.exp(-random.normal(size=samples) - np.where(label < 0, 1.5, 0)))
    return label, prediction, score


def fpr_at_95(positive, score):
    fpr, tpr, _ = metrics.roc_curve(positive, score, drop_intermediate=False)
    return fpr[np.argmax(tpr >= 0.95)]


def error_at_95(unknown, score):
    _, tpr, thresholds = metrics.roc_curve(unknown, score, drop_intermediate=False)
    rejected = score >= thresholds[np.argmax(tpr >= 0.95)]
    return np.mean(rejected != unknown)


def openauc(known, correct, score):
    masked = np.where(known & ~correct, score[~known].max() + 1e-5, score)
    return metrics.roc_auc_score(~known, masked)


def oscr_legacy(known, correct, score):
    """Cuts in ascending confidence: correct samples from one place after the cut, unknown ones from the cut."""
    order = np.argsort(-score, kind="stable")
    right = (known & correct)[order]
    wrong_side = (~known)[order]
    ccr = np.append((right[::-1].cumsum()[::-1] - right)[:-1], [0, 0]) / known.sum()
    fpr = np.append(wrong_side[::-1].cumsum()[::-1][:-1], [0, 0]) / (~known).sum()
    points = sorted(zip(np.append(fpr, 1), np.append(ccr, 1)), reverse=True)
    x, y = np.array(points).T
    return np.sum((x[:-1] - x[1:]) * (y[:-1] + y[1:]) / 2)


def best_f(known, label, prediction, score):
    """Macro and micro F over the thresholds 0.01 .. 0.99."""
    correct = known & (label == prediction)
    samples = np.bincount(label[known], minlength=CLASSES)
    macro, micro = 0.0, 0.0
    for threshold in np.arange(1, 100) / 100:
        accepted = score <= threshold
        hits = np.bincount(label[accepted & correct], minlength=CLASSES)
        calls = np.bincount(prediction[accepted], minlength=CLASSES)
        precision = np.mean(hits / np.maximum(calls, 1))
        recall = np.mean(hits / np.maximum(samples, 1))
        macro = max(macro, 2 * precision * recall / max(precision + recall, 1e-300))
        precision = hits.sum() / max(calls.sum(), 1)
        recall = hits.sum() / samples.sum()
        micro = max(micro, 2 * precision * recall / max(precision + recall, 1e-300))
    return macro, micro


def aurc(correct, score):
    errors = ~correct[np.argsort(score, kind="stable")]
    return np.mean(np.cumsum(errors) / np.arange(1, len(errors) + 1))


def peer(label, prediction, score):
    known = label >= 0
    correct = known & (label == prediction)
    ascending = np.sort(score[known])
    threshold = ascending[int(np.ceil(0.95 * len(ascending) - 1e-9)) - 1]
    decision = np.where(score <= threshold, prediction, CLASSES)
    open_label = np.where(known, label, CLASSES)
    f_macro, f_micro = best_f(known, label, prediction, score)
    return {
        "accuracy": metrics.accuracy_score(label[known], prediction[known]),
        "auroc": metrics.roc_auc_score(~known, score),
        "aupr_unknown": metrics.average_precision_score(~known, score),
        "aupr_known": metrics.average_precision_score(known, -score),
        "fpr_at_95tpr": fpr_at_95(known, -score),
        "fpr_at_95tpr_unknown_positive": fpr_at_95(~known, score),
        "error_at_95tpr": error_at_95(~known, score),
        "openauc": openauc(known, correct, score),
        "oscr": oscr_legacy(known, correct, score),
        "open_set_f_macro": f_macro,
        "open_set_f_micro": f_micro,
        "aurc": aurc(correct[known], score[known]),
        "inner": metrics.balanced_accuracy_score(label[known], prediction[known]),
        "outer": metrics.balanced_accuracy_score(known, score <= threshold),
        "halfpoint": metrics.balanced_accuracy_score(open_label[known], decision[known]),
        "overall": metrics.balanced_accuracy_score(open_label, decision),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--openset", required=True, help="the program")
    parser.add_argument("--samples", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
    label, prediction, score = made_up(arguments.samples, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scores.npz")
        np.savez(path, label=label, prediction=prediction, unknown_score=score)
        command = [arguments.openset, "eval", path, "--metrics=" + METRICS, "--format=json"]
        ours_seconds, peer_seconds = [], []
        for _ in range(arguments.rounds):
            begin = time.perf_counter()
            output = subprocess.run(command, check=True, capture_output=True).stdout
            ours_seconds.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            expected = peer(label, prediction, score)
            peer_seconds.append(time.perf_counter() - begin)
    ours = {name: metric["value"] for name, metric in json.loads(output)["metrics"].items()}
    assert ours.keys() == expected.keys(), ours.keys() ^ expected.keys()
    differences = {name: abs(ours[name] - float(expected[name])) for name in expected}
    for name, difference in differences.items():
        print(f"{name:32s} {ours[name]:.15f}  difference {difference:.1e}")
    ours_median, peer_median = statistics.median(ours_seconds), statistics.median(peer_seconds)
    print(f"{arguments.samples} samples, {len(expected)} metrics, medians of {arguments.rounds}:")
    print(f"openset eval (whole process) {ours_median:.3f} s, scikit-learn and NumPy {peer_median:.3f} s, "
          f"ratio {peer_median / ours_median:.1f}")
    worst = max(differences, key=differences.get)
    print(f"largest difference {differences[worst]:.1e} ({worst})")
    return 0 if differences[worst] < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
