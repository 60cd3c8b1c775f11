"""Writes eval/testdata/selective.json: selective classification, calibration and points of ROC curves.

    python3 tools/peers/make_selective_golden.py eval/testdata/selective.json

From NumPy loops over the definitions of FD-Shifts (fd_shifts/analysis/rc_stats.py and rc_stats_utils.py) and of
torch-uncertainty 0.13 (metrics/classification), and from scikit-learn's ROC curve and confusion matrix. The stored file
was made with NumPy 2.4.6, SciPy 1.17.1 and scikit-learn 1.9.1 on x86-64. Larger score = more unknown.
"""

import json
import math
import sys

import numpy as np
from scipy import special
from sklearn import metrics


def trapezoids(coverages, risks):
    return float(sum((risks[i] + risks[i + 1]) / 2 * (coverages[i] - coverages[i + 1]) for i in range(len(risks) - 1)))


def fd_shifts(score, error, label):
    """Curves over descending coverage, a point a distinct score, and the point at coverage 0."""
    n = len(score)
    classes, sizes = np.unique(label, return_counts=True)
    coverages, risk, general, risk_ba, general_ba = [], [], [], [], []
    weight = np.array([n / (len(classes) * sizes[list(classes).index(c)]) for c in label])
    for threshold in sorted(set(score), reverse=True):
        accepted = score <= threshold
        coverages.append(accepted.mean())
        risk.append(error[accepted].mean())
        general.append(error[accepted].sum() / n)
        shares = [error[accepted & (label == c)].mean() if (accepted & (label == c)).any() else 0 for c in classes]
        risk_ba.append(np.mean(shares))
        general_ba.append((error * weight)[accepted].sum() / n)
    coverages.append(0)
    r = error.mean()
    aurc, augrc = trapezoids(coverages, risk + risk[-1:]), trapezoids(coverages, general + [0])
    return {
        "aurc": aurc,
        "eaurc": aurc - (r + (1 - r) * math.log(1 - r + np.finfo(float).eps)),
        "augrc": augrc,
        "eaugrc": augrc - r**2 / 2,
        "aurc_ba": trapezoids(coverages, risk_ba + risk_ba[-1:]),
        "augrc_ba": trapezoids(coverages, general_ba + [0]),
    }


def torch_uncertainty(score, error):
    n = len(score)
    error = error[np.argsort(score, kind="stable")]
    risk = error.cumsum() / np.arange(1, n + 1)
    coverage = np.arange(1, n + 1) / n
    admissible = np.nonzero(risk <= 0.05)[0]
    return {
        "tu_aurc": float(np.trapezoid(risk, coverage) / (1 - 1 / n)),
        "tu_augrc": float(np.trapezoid(risk * coverage, coverage) / (1 - 1 / n)),
        "risk_80_cov": float(risk[math.ceil(n * 0.8) - 1]),
        "cov_5_risk": float((admissible[-1] + 1) / n) if len(admissible) else 0.0,
    }


def calibration(confidence, correct, bins):
    order = np.argsort(confidence)
    adaptive = sum(abs(correct[part].sum() - confidence[part].sum()) for part in np.array_split(order, bins))
    edges = np.linspace(0, 1, bins + 1)
    ece = mce = 0
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            gap = abs(correct[inside].mean() - confidence[inside].mean())
            ece, mce = ece + inside.mean() * gap, max(mce, gap)
    return {"ece": float(ece), "mce": float(mce), "adaptive_ece": float(adaptive / len(correct))}


def open_set(score, label, prediction, classes):
    unknown = label < 0
    values = {}
    for positive, truth, positiveness in (("known", ~unknown, -score), ("unknown", unknown, score)):
        fpr, tpr, _ = metrics.roc_curve(truth, positiveness, drop_intermediate=False)
        for level in (0.5, 0.8, 0.95):
            values[f"fpr_at_{level}_{positive}"] = float(fpr[np.nonzero(tpr >= level - 1e-12)[0][0]])
    for level in (0.0, 0.1, 0.5):
        thresholds = [t for t in set(score) if (score[unknown] <= t).mean() <= level + 1e-12]
        ccr = 0.0
        if thresholds:
            ccr = float(((score <= max(thresholds)) & (prediction == label))[~unknown].mean())
        values[f"ccr_at_{level}"] = ccr
    threshold = float(np.median(score))
    decided = np.where(score <= threshold, prediction, classes)
    truth = np.where(unknown, classes, label)
    values["threshold"] = threshold
    values["open_set_accuracy"] = float((decided == truth).mean())
    confusion = metrics.confusion_matrix(truth, decided, labels=range(classes + 1))
    return values, confusion.ravel().tolist()


def case(name, seed, n, unknown, classes, skew, step):
    random = np.random.default_rng(seed)
    share = np.arange(1, classes + 1, dtype=float) ** skew
    label = random.choice(classes, n, p=share / share.sum())
    logits = random.normal(0, 1, (n + unknown, classes))
    logits[np.arange(n), label] += 1.5
    logits = np.float32(np.round(logits / step) * step if step else np.round(logits, 4))
    z = logits.astype(float)
    prediction = z.argmax(1)
    score = -special.logsumexp(z, axis=1) if not step else -z.max(1)
    score = np.round(score, 6)
    confidence = special.softmax(z, axis=1).max(1)
    known = slice(0, n)
    error = (prediction[known] != label).astype(float)
    label = np.concatenate([label, np.full(unknown, -1)])
    golden = {"name": name, "num_classes": classes, "unknown_score": score.tolist(), "label": label.tolist(),
              "prediction": prediction.tolist(), "logits": [float(x) for x in logits.ravel()], "bins": 15}
    golden |= fd_shifts(score[known], error, label[known])
    if len(set(score[known])) == n:
        golden |= torch_uncertainty(score[known], error)
    if len(set(confidence[known])) == n:
        golden |= calibration(confidence[known], 1 - error, 15)
    pool = fd_shifts(score, np.where(label < 0, 1.0, prediction != label), np.zeros(n + unknown))
    golden["pooled_augrc"] = pool["augrc"]
    values, golden["confusion"] = open_set(score, label, prediction, classes)
    golden["open_set"] = values
    return golden


def main():
    cases = [
        case("distinct", 1, 60, 30, 4, 0, 0),
        case("imbalanced", 2, 83, 41, 5, 2, 0),
        case("ties", 3, 70, 35, 3, 1, 0.5),
        case("few", 4, 12, 7, 2, 0, 0),
    ]
    with open(sys.argv[1], "w") as file:
        about = __doc__.splitlines()[0]
        rows = ",\n".join(json.dumps(row) for row in cases)
        file.write(f'{{\n"about": {json.dumps(about)},\n"cases": [\n{rows}\n]\n}}\n')


if __name__ == "__main__":
    main()
