"""Writes v1/*.npz and v1/expected.json: small arrays, and what each metric and score is for them.

    python3 make_suite.py [FOLDER]      (NumPy alone; FOLDER instead of v1)

Every value is computed here from the definition beside it, sample by sample or threshold by threshold, with nothing of
openset. Larger scores are more unknown. A label of -1 is unknown. v1 was made with NumPy 2.4.6; suite_test.py makes it
again.
"""
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))

# Curves, from the strictest threshold (nothing is called unknown) to the loosest.


def curve(positive_score, negative_score):
    """(true positive rate, false positive rate) at "score >= t" for t = inf and each distinct score, descending."""
    points = [(0.0, 0.0)]
    for t in sorted(set(positive_score) | set(negative_score), reverse=True):
        points.append((float((positive_score >= t).mean()), float((negative_score >= t).mean())))
    return points


def auroc(positive, negative, ties=0.5):
    return float(np.mean([(p > n) + ties * (p == n) for p in positive for n in negative]))


def aupr(positive, negative, trapezoid):
    area, last_recall, last_precision = 0.0, 0.0, 1.0
    for t in sorted(set(positive) | set(negative), reverse=True):
        hits, false = int((positive >= t).sum()), int((negative >= t).sum())
        recall, precision = hits / len(positive), hits / (hits + false)
        area += (recall - last_recall) * ((precision + last_precision) / 2 if trapezoid else precision)
        last_recall, last_precision = recall, precision
    return area


def first_reaching(points, target):
    return next(fpr for tpr, fpr in points if tpr >= target)


def corners(points):
    """Without the points, other than the first and last threshold's, whose step to the next equals the step that led to
    them: what roc_curve() of scikit-learn drops by default."""
    inner, steps = points[1:], np.diff(np.array(points[1:]), axis=0)
    kept = [
        inner[i]
        for i in range(len(inner))
        if i in (0, len(inner) - 1) or not np.allclose(steps[i - 1], steps[i], 0, 1e-12)
    ]
    return points[:1] + kept


def nearest(points, target):
    """Of those that are equally near, the loosest threshold's; none is looser than the first that finds all."""
    used = points[:1 + next(i for i, (tpr, _) in enumerate(points) if tpr == 1)]
    return min(reversed(used), key=lambda point: abs(point[0] - target))[1]


# Selective prediction: known samples, accepted from the least score on.


def blocks(score, wrong):
    """(samples, errors) of each distinct score, ascending."""
    return [(int((score == s).sum()), int(wrong[score == s].sum())) for s in sorted(set(score))]


def aurc_expected(score, wrong):
    """Mean of the risk of the k first samples over k = 1 .. n, as an expectation over the orders of equal scores."""
    total, seen, errors = 0.0, 0, 0
    for samples, wrong_here in blocks(score, wrong):
        for k in range(1, samples + 1):
            total += (errors + wrong_here * k / samples) / (seen + k)
        seen, errors = seen + samples, errors + wrong_here
    return total / len(score)


def aurc_trapezoid(score, wrong):
    """Trapezoids between distinct scores over coverage; the first risk is used down to coverage 0."""
    area, seen, errors, last = 0.0, 0, 0, None
    for samples, wrong_here in blocks(score, wrong):
        seen, errors = seen + samples, errors + wrong_here
        risk = errors / seen
        area += samples / len(score) * (risk + (risk if last is None else last)) / 2
        last = risk
    return area


def augrc(score, wrong):
    """Area under (coverage, accepted errors / n), trapezoids between distinct scores."""
    area, errors = 0.0, 0
    for samples, wrong_here in blocks(score, wrong):
        area += samples / len(score) * (errors + errors + wrong_here) / 2 / len(score)
        errors += wrong_here
    return area


def accepted(unknown, known, wrong):
    """(false positive rate, correct classification rate) at "score <= t" for t = -inf and each distinct score, ascending."""
    thresholds = [-np.inf] + sorted(set(unknown) | set(known))
    return [(float((unknown <= t).mean()), float(((known <= t) & ~wrong).mean())) for t in thresholds]


def oscr(unknown, known, wrong):
    points = accepted(unknown, known, wrong)
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))


def ccr(unknown, known, wrong, level):
    return max(right for false, right in accepted(unknown, known, wrong) if false <= level)


def ccr_below_rank(unknown, known, wrong, level):
    rank = int(np.ceil(level * len(unknown)))
    return float(((known < np.sort(unknown)[rank - 1]) & ~wrong).mean())


def excess(area, wrong):
    """less r + (1 - r) ln(1 - r) for the share r of errors"""
    right = 1 - wrong.mean()
    return area - float(wrong.mean() + (right * np.log(right) if right > 0 else 0))


def class_balanced(score, wrong, label, of_accepted):
    """(mean over classes of a class's risk, share of the samples) of each distinct score, by trapezoids."""
    area, last = 0.0, None
    for s in sorted(set(score)):
        risks = []
        for c in set(label):
            accepted = wrong[(label == c) & (score <= s)]
            samples = len(accepted) if of_accepted else int((label == c).sum())
            risks.append(accepted.sum() / samples if samples else 0.0)
        risk = float(np.mean(risks))
        area += float((score == s).mean()) * (risk + (last if last is not None else risk * of_accepted)) / 2
        last = risk
    return area


def risk_at(coverage, score, wrong):
    k, seen, errors = int(np.ceil(coverage * len(score) - 1e-9)), 0, 0
    for samples, wrong_here in blocks(score, wrong):
        if seen + samples >= k:
            return (errors + wrong_here * (k - seen) / samples) / k
        seen, errors = seen + samples, errors + wrong_here


def coverage_at(risk, score, wrong):
    thresholds = [float((score <= s).mean()) for s in set(score) if wrong[score <= s].mean() <= risk]
    return max(thresholds, default=0.0)


def autc(unknown, known):
    low, high = min(*unknown, *known), max(*unknown, *known)
    if not 0 < high - low < np.inf:
        return None
    return float(((known - low) / (high - low)).mean() + 1 - ((unknown - low) / (high - low)).mean()) / 2


METRICS = {
    "auroc":
        ("auroc", "pairs of an unknown and a known sample with the larger score on the unknown one; a tie counts 1/2",
         "auroc {}", lambda u, k, *_: auroc(u, k)),
    "auroc_ties_lose":
        ("auroc", "the same; a tie counts 0", "auroc { tied: NOTHING }", lambda u, k, *_: auroc(u, k, 0)),
    "aupr_unknown_step":
        ("aupr_unknown", "unknown is positive; sum of precision times gain in recall (average precision)",
         "aupr_unknown { form: STEP }", lambda u, k, *_: aupr(u, k, False)),
    "aupr_unknown_trapezoid":
        ("aupr_unknown", "unknown is positive; trapezoids between distinct scores, from precision 1 at "
         "recall 0", "aupr_unknown { form: TRAPEZOID }", lambda u, k, *_: aupr(u, k, True)),
    "aupr_known_step": ("aupr_known", "known is positive; average precision", "aupr_known { form: STEP }",
                        lambda u, k, *_: aupr(-k, -u, False)),
    "aupr_known_trapezoid": ("aupr_known", "known is positive; trapezoids", "aupr_known { form: TRAPEZOID }",
                             lambda u, k, *_: aupr(-k, -u, True)),
    "fpr95_unknown_first":
        ("fpr95_unknown_positive", "share of known samples called unknown at the strictest threshold that "
         "finds 95 % of the unknown ones", "fpr_at_95tpr_unknown_positive {}",
         lambda u, k, *_: first_reaching(curve(u, k), 0.95)),
    "fpr95_unknown_first_of_corners":
        ("fpr95_unknown_positive", "the same, after points of the ROC curve within equal steps "
         "are dropped", "fpr_at_95tpr_unknown_positive { rule: FIRST_REACHING_CORNERS }",
         lambda u, k, *_: first_reaching(corners(curve(u, k)), 0.95)),
    "fpr95_unknown_nearest":
        ("fpr95_unknown_positive", "the same at the threshold whose true positive rate is nearest to 95 %, the "
         "loosest of several, but not looser than the strictest that finds all",
         "fpr_at_95tpr_unknown_positive { rule: NEAREST }", lambda u, k, *_: nearest(curve(u, k)[1:], 0.95)),
    "fpr95_known_first":
        ("fpr95_known_positive", "share of unknown samples accepted at the strictest threshold that accepts "
         "95 % of the known ones", "fpr_at_95tpr {}", lambda u, k, *_: first_reaching(curve(-k, -u), 0.95)),
    "accuracy": ("accuracy", "share of known samples whose prediction is the label", "accuracy {}",
                 lambda u, k, wrong, *_: 1 - float(wrong.mean())),
    "aurc_expected": ("aurc", aurc_expected.__doc__, "aurc {}", lambda u, k, wrong, *_: aurc_expected(k, wrong)),
    "aurc_trapezoid": ("aurc", aurc_trapezoid.__doc__, "aurc { form: TRAPEZOID_DISTINCT }",
                       lambda u, k, wrong, *_: aurc_trapezoid(k, wrong)),
    "augrc": ("augrc", augrc.__doc__, "augrc {}", lambda u, k, wrong, *_: augrc(k, wrong)),
    "openauc": (
        "openauc", "pairs with the larger score on the unknown sample (a tie counts 1/2) and the known one "
        "classified correctly, over all pairs", "openauc {}",
        lambda u, k, wrong, *_: float(np.mean([(not w) * ((p > n) + 0.5 * (p == n))
                                           for p in u
                                           for n, w in zip(k, wrong)]))),
    "oscr": ("oscr", "area under the correct classification rate over the false positive rate, of samples at or below each "
             "threshold; trapezoids between distinct scores", "oscr {}", lambda u, k, wrong, *_: oscr(u, k, wrong)),
    "ccr_at_10fpr":
        ("ccr_at_10fpr", "share of known samples that are accepted and correct at the largest threshold that accepts at most "
         "10 % of the unknown ones", "ccr_at_fpr { fpr: 0.1 }", lambda u, k, wrong, *_: ccr(u, k, wrong, 0.1)),
    "ccr_at_10fpr_below_rank":
        ("ccr_at_10fpr", "share of known samples that are correct and less unknown than the unknown sample of rank "
         "ceil(0.1 n), from the least unknown one of n", "ccr_at_fpr { rule: BELOW_RANK }",
         lambda u, k, wrong, *_: ccr_below_rank(u, k, wrong, 0.1)),
    "fpr80_known_first": ("fpr80_known_positive", "as fpr95_known_first at 80 %", "fpr_at_tpr { tpr: 0.8 }",
                          lambda u, k, *_: first_reaching(curve(-k, -u), 0.8)),
    "eaurc_trapezoid": ("eaurc", "aurc_trapezoid " + excess.__doc__, "eaurc { form: TRAPEZOID_DISTINCT }",
                        lambda u, k, wrong, *_: excess(aurc_trapezoid(k, wrong), wrong)),
    "eaugrc": ("eaugrc", "augrc less r^2 / 2 for the share r of errors", "eaugrc {}",
               lambda u, k, wrong, *_: augrc(k, wrong) - float(wrong.mean())**2 / 2),
    "class_balanced_aurc":
        ("class_balanced_aurc", "aurc_trapezoid of the mean over classes of the share of errors among the class's accepted "
         "samples, 0 if none is accepted", "class_balanced_aurc {}",
         lambda u, k, wrong, label: class_balanced(k, wrong, label, True)),
    "class_balanced_augrc":
        ("class_balanced_augrc", "augrc of the mean over classes of accepted errors / the class's samples",
         "class_balanced_augrc {}", lambda u, k, wrong, label: class_balanced(k, wrong, label, False)),
    "auroc_misclassification":
        ("auroc_misclassification", "auroc of wrong against correct predictions of known samples; none without both",
         "auroc_misclassification {}",
         lambda u, k, wrong, *_: auroc(k[wrong], k[~wrong]) if wrong.any() and not wrong.all() else None),
    "risk_at_80coverage":
        ("risk_at_80coverage", "share of errors among the ceil(0.8 n) first samples, as an expectation over the orders of "
         "equal scores", "risk_at_coverage {}", lambda u, k, wrong, *_: risk_at(0.8, k, wrong)),
    "coverage_at_5risk":
        ("coverage_at_5risk", "largest share of samples that a threshold accepts with at most 5 % of errors among them; 0 "
         "if none does", "coverage_at_risk {}", lambda u, k, wrong, *_: coverage_at(0.05, k, wrong)),
    "inner": ("inner", "mean over classes of the share of a class's samples whose prediction is the label (balanced "
              "accuracy)", "inner {}",
              lambda u, k, wrong, label: float(np.mean([(~wrong)[label == c].mean() for c in set(label)]))),
    "autc": ("autc", "half of 1 + the mean of the known scores - that of the unknown ones, mapped to 0 .. 1 by the least "
             "and the largest score; none if these are equal or infinite", "autc {}", lambda u, k, *_: autc(u, k)),
    "detection_error": ("detection_error", "least mean of the two error rates", "detection_error {}",
                        lambda u, k, *_: min((1 - tpr + fpr) / 2 for tpr, fpr in curve(u, k))),
}


def metric_cases():
    random = np.random.default_rng(1)

    def case(score, label, prediction):
        return {"unknown_score": np.asarray(score), "label": np.asarray(label), "prediction": np.asarray(prediction)}

    def drawn(known, unknown, classes=4, shift=1.0, decimals=None, dtype=float):
        label = np.concatenate([random.integers(0, classes, known), np.full(unknown, -1)])
        score = np.concatenate([random.normal(0, 1, known), random.normal(shift, 1, unknown)])
        prediction = np.where(
            random.random(known + unknown) < 0.75, np.maximum(label, 0), random.integers(0, classes, len(label)))
        score = score if decimals is None else np.round(score, decimals)
        return case(score.astype(dtype), label, prediction)

    # The last of five outputs is for the unknown: its softmax is the score, and a prediction of 4 rejects the sample.
    outputs = extra_outputs()
    rejecting = case(softmax(outputs["logits"])[:, -1], outputs["label"], outputs["logits"].argmax(1))
    infinite = drawn(40, 30)
    infinite["unknown_score"][[0, 5]], infinite["unknown_score"][[45, 50]] = -np.inf, np.inf
    many = {
        "distinct":
            drawn(60, 40),
        "ties":
            drawn(60, 40, decimals=1),
        "heavy_ties":
            drawn(60, 40, decimals=0),
        "all_equal":
            case(np.zeros(20), [0] * 12 + [-1] * 8, [0] * 6 + [1] * 14),
        "separated":
            drawn(50, 50, shift=20),
        "inverted":
            drawn(50, 50, shift=-20),
        "infinities":
            infinite,
        "one_class":
            drawn(30, 20, classes=1),
        "rare_unknown":
            drawn(300, 2),
        "rare_known":
            drawn(3, 200),
        "rejections":
            rejecting,
        "float16":
            drawn(80, 60, dtype=np.float16),
        "float32_large":
            case(np.float32(2**24) + np.arange(40, dtype=np.float32) % 7, [0] * 20 + [-1] * 20, [0] * 15 + [1] * 25),
        "tiny_differences":
            case(1 + np.arange(40)[::-1] * 2.0**-52, ([0, -1] * 20), [0] * 40),
        # Two samples of either kind at each score: all points of the ROC curve lie on one line.
        "straight_line":
            case(np.repeat(np.arange(20.0), 4), [0, 0, -1, -1] * 20, [0, 1, 0, 0] * 20),
    }
    return many


# Scores of logits and features. Fitted ones to the arrays train_*.


def extra_outputs():
    """Logits of four known classes and, last, of the unknown; one of them is so large that exp() overflows."""
    random = np.random.default_rng(3)
    label = np.concatenate([np.arange(36) % 4, np.full(14, -1)])
    logits = random.normal(0, 1.5, (50, 5))
    logits[np.arange(50), label] += 2
    logits[49, 4] += 800
    return {"logits": logits.round(3), "label": label, "num_classes": np.array(4)}


def softmax(logits):
    p = np.exp(logits - logits.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def energy(logits):
    top = logits.max(1, keepdims=True)
    return -(top[:, 0] + np.log(np.exp(logits - top).sum(1)))


def knn(d, k):
    a, b = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (d["features"], d["train_features"])]
    return np.array([np.sort(np.linalg.norm(b - row, axis=1))[k - 1] for row in a])


def distances(d):
    """Squared Mahalanobis distances to the class means, [N, K], by the covariance around them (1/N)."""
    x, y = d["train_features"], d["train_label"]
    means = np.array([x[y == c].mean(0) for c in range(y.max() + 1)])
    inverse = np.linalg.inv((x - means[y]).T @ (x - means[y]) / len(x))
    return np.array([[(row - mean) @ inverse @ (row - mean) for mean in means] for row in d["features"]])


def background(d):
    x = d["train_features"]
    centred = x - x.mean(0)
    inverse = np.linalg.inv(centred.T @ centred / len(x))
    return np.array([(row - x.mean(0)) @ inverse @ (row - x.mean(0)) for row in d["features"]])


def outside(d, dim):
    """Lengths outside of the main directions of the training features, seen from -pinv(W) b: of both."""
    origin = -np.linalg.pinv(d["head_weight"]) @ d["head_bias"]
    train, test = d["train_features"] - origin, d["features"] - origin
    values, vectors = np.linalg.eigh(train.T @ train)
    rest = vectors[:, np.argsort(-values)[dim:]]
    return np.linalg.norm(train @ rest, axis=1), np.linalg.norm(test @ rest, axis=1)


def vim(d, dim):
    train, test = outside(d, dim)
    return d["train_logits"].max(1).mean() / train.mean() * test + energy(d["logits"])


def react(d, percentile):
    clip = np.percentile(d["train_features"], percentile)
    return energy(np.minimum(d["features"], clip) @ d["head_weight"].T + d["head_bias"])


def dice(d, percentile):
    contribution = d["train_features"].mean(0) * d["head_weight"]
    weight = np.where(contribution > np.percentile(contribution, percentile), d["head_weight"], 0)
    return energy(d["features"] @ weight.T + d["head_bias"])


def fdbd(d):
    x, w, mean = d["features"], d["head_weight"], d["train_features"].mean(0)
    scores = []
    for row, z in zip(x, x @ w.T + d["head_bias"]):
        c = z.argmax()
        to_boundaries = [(z[c] - z[k]) / np.linalg.norm(w[c] - w[k]) for k in range(len(w)) if k != c]
        scores.append(-np.sum(to_boundaries) / np.linalg.norm(row - mean))
    return np.array(scores)


def she(d):
    right = d["train_logits"].argmax(1) == d["train_label"]
    pattern = [d["train_features"][right & (d["train_label"] == c)].mean(0) for c in range(d["logits"].shape[1])]
    return np.array([-row @ pattern[c] for row, c in zip(d["features"], d["logits"].argmax(1))])


def pruned(d, percentile):
    """The features, of which only the largest stay: 100 - percentile % of them."""
    keep = d["features"].shape[1] - int(np.round(d["features"].shape[1] * percentile / 100))
    least = np.sort(d["features"], axis=1)[:, -keep][:, None]
    return np.where(d["features"] >= least, d["features"], 0)


def scale(d, percentile):
    ratio = d["features"].sum(1) / pruned(d, percentile).sum(1)
    return energy(d["features"] * np.exp(ratio)[:, None] @ d["head_weight"].T + d["head_bias"])


def ash_b(d, percentile):
    left = pruned(d, percentile) > 0
    return energy(left * (d["features"].sum(1) / left.sum(1))[:, None] @ d["head_weight"].T + d["head_bias"])


def units(d):
    return [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (d["features"], d["train_features"])]


def mahalanobis_plus_plus(d):
    test, train = units(d)
    return distances({**d, "features": test, "train_features": train}).min(1)


def nnguide(d, k):
    test, train = units(d)
    similarity = test @ (train * -energy(d["train_logits"])[:, None]).T
    return energy(d["logits"]) * np.sort(similarity, axis=1)[:, -k:].mean(1)


def relation(d, power):
    test, train = units(d)
    edges = np.maximum(test @ train.T, 0) * (softmax(d["logits"]) @ softmax(d["train_logits"]).T)
    return -np.where(edges > 0.03, edges**power, 0).sum(1)


def gradnorm(d):
    p = softmax(d["logits"])
    return -np.abs(p.shape[1] * p - 1).sum(1) * np.abs(d["features"]).sum(1)


def kl_matching(d):
    p, train = softmax(d["logits"]), softmax(d["train_logits"])
    means = [train[train.argmax(1) == c].mean(0) for c in range(p.shape[1])]
    return np.min([(p * np.log(p / mean)).sum(1) for mean in means], axis=0)


def nci(d, alpha):
    centred = d["features"] - d["train_features"].mean(0)
    products = (d["head_weight"][d["logits"].argmax(1)] * centred).sum(1)
    return -products / np.linalg.norm(centred, axis=1) - alpha * np.abs(d["features"]).sum(1)


def entropy(d):
    p = softmax(d["logits"])
    return -(p * np.log(p)).sum(1)


def gen(d, gamma, top):
    p = np.sort(softmax(d["logits"]), axis=1)[:, -top:]
    return (p**gamma * (1 - p)**gamma).sum(1)


SCORES = {
    "max_softmax": ("-max_c softmax(z)_c", "max_softmax {}", lambda d: -softmax(d["logits"]).max(1)),
    "max_logit": ("-max_c z_c", "max_logit {}", lambda d: -d["logits"].max(1)),
    "energy": ("-log sum_c exp(z_c)", "energy {}", lambda d: energy(d["logits"])),
    "energy_t2": ("-2 log sum_c exp(z_c / 2)", "energy { temperature: 2 }", lambda d: 2 * energy(d["logits"] / 2)),
    "entropy": ("-sum_c p_c log p_c", "entropy {}", entropy),
    "gen_01": ("sum over all classes of (p (1 - p))^0.1", "gen {}", lambda d: gen(d, 0.1, 100)),
    "gen_05_top2":
        ("the same with 0.5 over the two largest p", "gen { gamma: 0.5 top: 2 }", lambda d: gen(d, 0.5, 2)),
    "mahalanobis": (distances.__doc__ + " The least of them.", "mahalanobis {}", lambda d: distances(d).min(1)),
    "relative_mahalanobis": ("the same minus that to the mean of all, by the covariance around it",
                             "relative_mahalanobis {}", lambda d: distances(d).min(1) - background(d)),
    "knn_1": ("distance of x / |x| to the nearest training one", "knn { k: 1 }", lambda d: knn(d, 1)),
    "knn_10": ("to the tenth nearest", "knn { k: 10 }", lambda d: knn(d, 10)),
    "vim_2":
        ("virtual logit minus log sum exp, two main directions", "vim { principal_dim: 2 }", lambda d: vim(d, 2)),
    "vim_5": ("the same with five", "vim { principal_dim: 5 }", lambda d: vim(d, 5)),
    "residual_2": (outside.__doc__, "residual { principal_dim: 2 }", lambda d: outside(d, 2)[1]),
    "react_90": ("energy of features clipped at the 90th percentile (linear between values) of all training features",
                 "react { percentile: 90 }", lambda d: react(d, 90)),
    "react_60": ("the 60th", "react { percentile: 60 }", lambda d: react(d, 60)),
    "dice_90": ("energy of a head without the 90 % of weights (percentile, linear between values) whose product with the "
                "mean training feature is least", "dice {}", lambda d: dice(d, 90)),
    "dice_50": ("50 %", "dice { percentile: 50 }", lambda d: dice(d, 50)),
    "fdbd": ("minus the sum of distances to the other classes' boundaries, over that to the mean training feature",
             "fdbd {}", fdbd),
    "scale_85": ("energy of the features times exp(sum of all / sum of the 15 % largest)", "scale {}",
                 lambda d: scale(d, 85)),
    "scale_65": ("the 35 % largest", "scale { percentile: 65 }", lambda d: scale(d, 65)),
    "ash_b_90": ("energy of features of which the 10 % largest (of their number, rounded, at least 1) become equal, with "
                 "the sum of all, and the others 0", "ash { variant: B percentile: 90 }", lambda d: ash_b(d, 90)),
    "ash_b_65": ("35 %", "ash { variant: B percentile: 65 }", lambda d: ash_b(d, 65)),
    "mahalanobis_plus_plus": ("mahalanobis of x / |x|", "mahalanobis_plus_plus {}", mahalanobis_plus_plus),
    "nnguide_1": ("energy times the largest product of x / |x| and a training x / |x| times its minus energy",
                  "nnguide { k: 1 share: 1 }", lambda d: nnguide(d, 1)),
    "nnguide_10": ("the mean of the ten largest", "nnguide { share: 1 }", lambda d: nnguide(d, 10)),
    "relation_1": ("minus the sum over training samples of the cosine of the features (at least 0) times the product of "
                   "the softmaxes, where this is above 0.03", "relation {}", lambda d: relation(d, 1)),
    "relation_4": ("the sum of fourth powers", "relation { power: 4 }", lambda d: relation(d, 4)),
    "gradnorm": ("minus sum_c |K p_c - 1| times sum_d |x_d|", "gradnorm {}", gradnorm),
    "kl_matching": ("least sum_c p_c log(p_c / m_c) over the mean softmaxes m of training samples of one prediction",
                    "klm {}", kl_matching),
    "nci_00001": ("minus (w_y . (x - m) / |x - m| + 0.0001 sum_d |x_d|) for the mean m of the training features and the "
                  "weights w_y of the prediction", "nci {}", lambda d: nci(d, 0.0001)),
    "nci_01": ("0.1 instead of 0.0001", "nci { alpha: 0.1 }", lambda d: nci(d, 0.1)),
    "extra_output": ("softmax(z)_c of the last output, which is for the unknown", "extra_output {}",
                     lambda d: softmax(d["logits"])[:, -1]),
    "extra_output_margin": ("the last output minus the largest of the others", "extra_output { value: MARGIN }",
                            lambda d: d["logits"][:, -1] - d["logits"][:, :-1].max(1)),
    "she": (
        "minus the inner product with the mean feature of correctly classified training samples of the predicted class",
        "she {}", she),
}
OPENOOD, PYTORCH_OOD = "OpenOOD 3c35632, openood/", "pytorch-ood 0.4.0, detector."
POSTPROCESSORS = OPENOOD + "postprocessors/"
OPENOOD_METRIC = OPENOOD + "evaluators/metrics.py: auc_and_fpr_recall"
SCIKIT_LEARN, FD_SHIFTS = "scikit-learn 1.9.1, metrics.", "FD-Shifts c4467ae, fd_shifts/analysis/rc_stats.py: "
# The paper, and a released function that has the definition: the runners call most of them (docs/conformance.md).
SOURCES = {
    "auroc": f"Hanley and McNeil 1982 (Wilcoxon statistic); {SCIKIT_LEARN}roc_auc_score",
    "auroc_ties_lose": "ARPL 3ede8b3, core/evaluation.py: metric_ood",
    "aupr_unknown_step": f"{SCIKIT_LEARN}average_precision_score of the score",
    "aupr_unknown_trapezoid": OPENOOD_METRIC,
    "aupr_known_step": f"{SCIKIT_LEARN}average_precision_score of the negated score",
    "aupr_known_trapezoid": OPENOOD_METRIC,
    "fpr95_unknown_first": "torch-uncertainty 0.13.0, metrics/classification/fpr.py: FPR95; pytorch-ood 0.4.0, "
                           "metrics.OODMetrics",
    "fpr95_unknown_first_of_corners": f"{OPENOOD_METRIC}, with {SCIKIT_LEARN}roc_curve",
    "fpr95_unknown_nearest": "outlier-exposure e6ede98, utils/display_results.py: fpr_and_fdr_at_recall",
    "fpr95_known_first": f"Liang et al. 2018 (ODIN); {SCIKIT_LEARN}roc_curve with drop_intermediate=False",
    "accuracy": f"{SCIKIT_LEARN}accuracy_score",
    "aurc_expected": "Geifman and El-Yaniv 2017; osr-metrics 0.5.0, selective.py: aurc",
    "aurc_trapezoid": f"{FD_SHIFTS}RiskCoverageStats.aurc",
    "augrc": f"Traub et al. 2024; {FD_SHIFTS}RiskCoverageStats.augrc",
    "openauc": "Wang et al. 2022 (OpenAUC), Eq. 12, where a tie counts 0",
    "oscr": "Dhamija et al. 2018 (the curve); osr-metrics 0.5.0, osr.py: compute_aoscr",
    "ccr_at_10fpr": "Dhamija et al. 2018",
    "ccr_at_10fpr_below_rank": OPENOOD + "evaluators/metrics.py: ccr_fpr",
    "fpr80_known_first": f"{SCIKIT_LEARN}roc_curve with drop_intermediate=False",
    "eaurc_trapezoid": f"Geifman et al. 2019; {FD_SHIFTS}RiskCoverageStats.eaurc",
    "eaugrc": f"{FD_SHIFTS}RiskCoverageStats.eaugrc",
    "class_balanced_aurc": f"{FD_SHIFTS}RiskCoverageStats.aurc_ba",
    "class_balanced_augrc": f"{FD_SHIFTS}RiskCoverageStats.augrc_ba",
    "auroc_misclassification": f"Hendrycks and Gimpel 2017; {SCIKIT_LEARN}roc_auc_score",
    "risk_at_80coverage": "torch-uncertainty 0.13.0, metrics/classification/risk_coverage.py: RiskAt80Cov, where no "
                          "scores are equal",
    "coverage_at_5risk": "torch-uncertainty 0.13.0, metrics/classification/risk_coverage.py: CovAt5Risk, where no scores "
                         "are equal",
    "inner": f"{SCIKIT_LEARN}balanced_accuracy_score",
    "autc": "Humblot-Renaux et al. 2023; pytorch-ood 0.4.0, metrics.OODMetrics",
    "detection_error": f"Liang et al. 2018 (ODIN); the least of {SCIKIT_LEARN}roc_curve's (1 - tpr + fpr) / 2",
    "max_softmax": f"Hendrycks and Gimpel 2017; {PYTORCH_OOD}MaxSoftmax",
    "max_logit": f"Hendrycks et al. 2022; {PYTORCH_OOD}MaxLogit",
    "energy": f"Liu et al. 2020; {PYTORCH_OOD}EnergyBased",
    "energy_t2": f"Liu et al. 2020; {PYTORCH_OOD}EnergyBased",
    "entropy": f"{PYTORCH_OOD}Entropy",
    "gen_01": f"Liu et al. 2023; {POSTPROCESSORS}gen_postprocessor.py: GENPostprocessor",
    "gen_05_top2": f"Liu et al. 2023; {POSTPROCESSORS}gen_postprocessor.py: GENPostprocessor",
    "mahalanobis": f"Lee et al. 2018; {POSTPROCESSORS}mds_postprocessor.py: MDSPostprocessor",
    "relative_mahalanobis": f"Ren et al. 2021; {POSTPROCESSORS}rmds_postprocessor.py: RMDSPostprocessor",
    "knn_1": f"Sun et al. 2022; {PYTORCH_OOD}KNN",
    "knn_10": f"Sun et al. 2022; {PYTORCH_OOD}KNN",
    "vim_2": f"Wang et al. 2022 (ViM); {POSTPROCESSORS}vim_postprocessor.py: VIMPostprocessor",
    "vim_5": f"Wang et al. 2022 (ViM); {POSTPROCESSORS}vim_postprocessor.py: VIMPostprocessor",
    "residual_2": f"Wang et al. 2022 (ViM); {POSTPROCESSORS}residual_postprocessor.py: ResidualPostprocessor",
    "react_90": f"Sun et al. 2021; {POSTPROCESSORS}react_postprocessor.py: ReactPostprocessor",
    "react_60": f"Sun et al. 2021; {POSTPROCESSORS}react_postprocessor.py: ReactPostprocessor",
    "dice_90": f"Sun and Li 2022; {POSTPROCESSORS}dice_postprocessor.py: DICEPostprocessor",
    "dice_50": f"Sun and Li 2022; {POSTPROCESSORS}dice_postprocessor.py: DICEPostprocessor",
    "fdbd": f"Liu and Qin 2024; {POSTPROCESSORS}fdbd_postprocessor.py: fDBDPostprocessor",
    "scale_85": f"Xu et al. 2024 (SCALE); {POSTPROCESSORS}scale_postprocessor.py: ScalePostprocessor",
    "scale_65": f"Xu et al. 2024 (SCALE); {POSTPROCESSORS}scale_postprocessor.py: ScalePostprocessor",
    "ash_b_90": f"Djurisic et al. 2023 (ASH); {POSTPROCESSORS}ash_postprocessor.py: ASHPostprocessor",
    "ash_b_65": f"Djurisic et al. 2023 (ASH); {POSTPROCESSORS}ash_postprocessor.py: ASHPostprocessor",
    "mahalanobis_plus_plus": "Mueller and Hein 2025; maha-norm 53de550, NINCO/detection_methods.py: "
                             "evaluate_Mahalanobis_norm",
    "nnguide_1": f"Park et al. 2023 (NNGuide); {POSTPROCESSORS}nnguide_postprocessor.py: NNGuidePostprocessor",
    "nnguide_10": f"Park et al. 2023 (NNGuide); {POSTPROCESSORS}nnguide_postprocessor.py: NNGuidePostprocessor",
    "relation_1": f"Kim et al. 2023 (relation graph); {POSTPROCESSORS}relation_postprocessor.py: RelationPostprocessor",
    "relation_4": f"Kim et al. 2023 (relation graph); {POSTPROCESSORS}relation_postprocessor.py: RelationPostprocessor",
    "gradnorm": f"Huang et al. 2021; {POSTPROCESSORS}gradnorm_postprocessor.py: GradNormPostprocessor",
    "kl_matching": f"Hendrycks et al. 2022; {POSTPROCESSORS}kl_matching_postprocessor.py: KLMatchingPostprocessor",
    "nci_00001": f"Liu and Qin 2025 (NCI); {POSTPROCESSORS}nci_postprocessor.py: NCIPostprocessor",
    "nci_01": f"Liu and Qin 2025 (NCI); {POSTPROCESSORS}nci_postprocessor.py: NCIPostprocessor",
    "extra_output": "Dhamija et al. 2018 (background class); SciPy 1.17.1, special.softmax",
    "extra_output_margin": "the same outputs; torchosr 0.1.6, models.Openmax, rejects where it is above 0",
    "she": f"Zhang et al. 2023; {POSTPROCESSORS}she_postprocessor.py: SHEPostprocessor",
}
# Pairs that differ in a setting: a library whose scores are equal for both doesn't use it. The scores of openmax_* have
# no expected values: its Weibull distributions come from a library. *_search is a setting that a hyperparameter search
# sets in an object that has scored samples before.
MUST_DIFFER = [("openmax_tail5", "openmax_tail20"), ("knn_1", "knn_10"), ("vim_2", "vim_5"), ("react_90", "react_60"),
               ("energy", "energy_t2"), ("gen_01", "gen_05_top2"), ("dice_90", "dice_50"),
               ("extra_output", "extra_output_margin"), ("scale_85", "scale_65"), ("ash_b_90", "ash_b_65"),
               ("nnguide_1", "nnguide_10"), ("relation_1", "relation_4"), ("nci_00001", "nci_01"),
               ("vim_2_search", "vim_5_search"),
               ("react_90_search", "react_60_search"), ("dice_90_search", "dice_50_search")]


def score_cases():
    random = np.random.default_rng(2)
    found = {"extra_output": extra_outputs()}
    for name, dtype in (("scores", float), ("scores_float32", np.float32)):
        classes, dim, train, test = 4, 8, 160, 40
        centre = random.uniform(0, 3, (classes, dim))
        train_label = np.arange(train) % classes
        features = np.maximum(centre[train_label] + random.normal(0, 0.8, (train, dim)), 0).round(3)
        tested = np.maximum(centre[np.arange(test) % classes] + random.normal(0, 0.8, (test, dim)), 0).round(3)
        tested[-12:] = random.uniform(0, 5, (12, dim)).round(3)
        weight, bias = (centre / 2).round(3), (-(centre**2).sum(1) / 4).round(3)
        label = np.arange(test) % classes
        label[-12:] = -1
        arrays = {
            "train_label": train_label,
            "train_features": features,
            "train_logits": features @ weight.T + bias,
            "label": label,
            "features": tested,
            "logits": tested @ weight.T + bias,
            "head_weight": weight,
            "head_bias": bias
        }
        found[name] = {key: array if "label" in key else array.astype(dtype) for key, array in arrays.items()}
    return found


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "v1")
    os.makedirs(folder, exist_ok=True)
    expected = {
        "about": "Made by make_suite.py. Larger scores are more unknown; label -1 is unknown. tolerance: relative to "
                 "max(1, |value|).",
        "metrics": {
            name: {
                "quantity": quantity,
                "definition": " ".join(text.split()),
                "source": SOURCES[name],
                "openset": spec,
                "tolerance": 1e-9
            } for name, (quantity, text, spec, _) in METRICS.items()
        },
        "scores": {
            name: {
                "definition": " ".join(text.split()),
                "source": SOURCES[name],
                "openset": spec,
                "tolerance": 1e-5
            } for name, (text, spec, _) in SCORES.items()
        },
        "must_differ": MUST_DIFFER,
        "metric_cases": {},
        "score_cases": {}
    }
    for name, arrays in metric_cases().items():
        np.savez(os.path.join(folder, name + ".npz"), **arrays)
        known = arrays["label"] >= 0
        score = arrays["unknown_score"].astype(float)
        wrong = (arrays["prediction"] != arrays["label"])[known]
        expected["metric_cases"][name] = {
            key: of(score[~known], score[known], wrong, arrays["label"][known]) for key, (*_, of) in METRICS.items()
        }
        expected["metric_cases"][name] = {key: v for key, v in expected["metric_cases"][name].items() if v is not None}
    for name, arrays in score_cases().items():
        np.savez(os.path.join(folder, name + ".npz"), **arrays)
        doubles = {key: array.astype(float) if array.dtype.kind == "f" else array for key, array in arrays.items()}
        expected["score_cases"][name] = {
            key: of(doubles).tolist()
            for key, (*_, of) in SCORES.items()
            if key.startswith("extra_output") == (name == "extra_output")
        }
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump(expected, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
