"""Writes eval/testdata/post_hoc_scores.json: post-hoc scores from their formulas, with NumPy, SciPy, scikit-learn.

    python3 tools/peers/make_score_golden.py eval/testdata/post_hoc_scores.json

The stored file was made with NumPy 2.4.6, SciPy 1.17.1 and scikit-learn 1.9.1 on x86-64. A model of 4 classes and 8
features that are not negative; 120 training samples, 16 to score, the last 6 of them unlike the training samples.
Larger = more unknown.
"""

import argparse
import json

import numpy as np
from scipy import optimize, spatial, special, stats
from sklearn import covariance, neighbors

CLASSES, FEATURES, TRAIN, TEST = 4, 8, 120, 16


def make_data():
    random = np.random.default_rng(20)
    centres = random.uniform(0, 3, (CLASSES, FEATURES))
    weight = np.float32(np.round(centres - centres.mean(0) + random.normal(0, 0.1, centres.shape), 3))
    bias = np.float32(np.round(random.normal(0, 0.5, CLASSES), 3))
    train_label = np.arange(TRAIN) % CLASSES

    def features(label):
        noisy = centres[label] + random.normal(0, 0.8, (len(label), FEATURES))
        return np.float32(np.round(np.maximum(noisy, 0), 3))

    train = features(train_label)
    test = features(np.arange(TEST) % CLASSES)
    test[-6:] = np.float32(np.round(random.uniform(0, 5, (6, FEATURES)), 3))
    data = {"weight": weight, "bias": bias, "train_label": train_label, "train_features": train, "features": test}
    for name, x in (("train_logits", train), ("logits", test)):
        data[name] = np.float32(x.astype(float) @ weight.astype(float).T + bias)
    return data


def energy(logits):
    return -special.logsumexp(logits, axis=1)


def weibull(values, translation):
    """Shape and scale of the likeliest 2-parameter Weibull distribution of positive values."""
    x = np.sort(values) - values.min() + translation
    u = np.log(x)

    def slope(log_k):
        k = np.exp(log_k)
        w = special.softmax(k * u)
        return w @ u - u.mean() - 1 / k

    k = np.exp(optimize.brentq(slope, -5, 30, xtol=1e-15, rtol=1e-14))
    return k, np.exp((special.logsumexp(k * u) - np.log(len(u))) / k)


def openmax(d, distance, tail, alpha, rank_weight, translation, of_logit=False, euclidean_weight=0.005):
    z, train, label = d["logits"], d["train_logits"], d["train_label"]

    def distances(rows, mean):
        euclid = np.linalg.norm(rows - mean, axis=1)
        cosine = np.array([spatial.distance.cosine(row, mean) for row in rows])
        return {"eucos": euclidean_weight * euclid + cosine, "euclidean": euclid, "cosine": cosine}[distance]

    cdf = np.zeros_like(z)
    for c in range(CLASSES):
        rows = train[(label == c) & (train.argmax(1) == c)]
        mean = rows.mean(0)
        largest = np.sort(distances(rows, mean))[-tail:]
        k, scale = weibull(largest, translation)
        query = z[:, c] if of_logit else distances(z, mean)
        cdf[:, c] = stats.weibull_min.cdf(query - largest.min() + translation, k, scale=scale)
    omega = np.zeros_like(z)
    for row in range(len(z)):
        for i, c in enumerate(np.argsort(-z[row])[:alpha]):
            omega[row, c] = (alpha - i) / alpha if rank_weight is None else rank_weight
    removed = z * cdf * omega
    return special.softmax(np.column_stack([z - removed, removed.sum(1)]), axis=1)[:, -1]


def mahalanobis(d, relative):
    train, label, test = d["train_features"], d["train_label"], d["features"]
    means = [train[label == c].mean(0) for c in range(CLASSES)]
    centred = np.vstack([train[label == c] - means[c] for c in range(CLASSES)])
    precision = covariance.EmpiricalCovariance(assume_centered=True).fit(centred).precision_
    of_class = np.array([[(x - m) @ precision @ (x - m) for m in means] for x in test]).min(1)
    if not relative:
        return of_class
    return of_class - covariance.EmpiricalCovariance().fit(train).mahalanobis(test)


def knn(d, k):
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (d["train_features"], d["features"])]
    return neighbors.NearestNeighbors(algorithm="brute").fit(unit[0]).kneighbors(unit[1], k)[0][:, -1]


def vim(d, dim):
    u = -np.linalg.pinv(d["weight"]) @ d["bias"]
    fit = covariance.EmpiricalCovariance(assume_centered=True).fit(d["train_features"] - u)
    values, vectors = np.linalg.eigh(fit.covariance_)
    null = vectors[:, np.argsort(-values)[dim:]]
    alpha = d["train_logits"].max(1).mean() / np.linalg.norm((d["train_features"] - u) @ null, axis=1).mean()
    return alpha * np.linalg.norm((d["features"] - u) @ null, axis=1) + energy(d["logits"])


def gen(d, gamma, top):
    p = np.sort(special.softmax(d["logits"], axis=1), axis=1)[:, -top:]
    return (p**gamma * (1 - p) ** gamma).sum(1)


def ash(d, variant, percentile):
    x = d["features"].copy()
    keep = FEATURES - int(np.round(FEATURES * percentile / 100))
    kept = np.zeros(x.shape, bool)
    np.put_along_axis(kept, np.argsort(-x, axis=1)[:, :keep], True, axis=1)
    pruned = np.where(kept, x, 0)
    total, rest = x.sum(1, keepdims=True), pruned.sum(1, keepdims=True)
    shaped = {"P": pruned, "B": np.where(kept, total / keep, 0), "S": pruned * np.exp(total / rest)}[variant]
    return energy(shaped @ d["weight"].T + d["bias"])


def dice(d, percentile):
    contribution = d["train_features"].mean(0) * d["weight"]
    weight = np.where(contribution > np.percentile(contribution, percentile), d["weight"], 0)
    return energy(d["features"] @ weight.T + d["bias"])


def she(d):
    correct = d["train_logits"].argmax(1) == d["train_label"]
    pattern = np.array([d["train_features"][correct & (d["train_label"] == c)].mean(0) for c in range(CLASSES)])
    return -(d["features"] * pattern[d["logits"].argmax(1)]).sum(1)


def react(d, clip):
    return energy(np.minimum(d["features"], clip) @ d["weight"].T + d["bias"])


def scores(d):
    return {
        "react_90": react(d, np.percentile(d["train_features"], 90)),
        "react_clip_1": react(d, 1),
        "openmax": openmax(d, "eucos", 20, 10, None, 10000),
        "openmax_alpha_2": openmax(d, "eucos", 20, 2, None, 10000),
        "openmax_benchmark": openmax(d, "eucos", 2, 1, 0.5, 10000),
        "openmax_cosine": openmax(d, "cosine", 10, 4, None, 1),
        "openmax_of_logit": openmax(d, "euclidean", 20, 4, 1, 1, of_logit=True),
        "mahalanobis": mahalanobis(d, False),
        "relative_mahalanobis": mahalanobis(d, True),
        "knn_1": knn(d, 1),
        "knn_50": knn(d, 50),
        "vim": vim(d, FEATURES // 2),
        "vim_6": vim(d, 6),
        "gen": gen(d, 0.1, 100),
        "gen_2": gen(d, 0.5, 2),
        "ash_p": ash(d, "P", 60),
        "ash_b": ash(d, "B", 65),
        "ash_s": ash(d, "S", 90),
        "dice_90": dice(d, 90),
        "dice_50": dice(d, 50),
        "she": she(d),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    path = parser.parse_args().output
    data = make_data()
    doubles = {name: array if name == "train_label" else array.astype(float) for name, array in data.items()}
    golden = {
        "about": "Made by tools/peers/make_score_golden.py. Larger = more unknown.",
        "num_classes": CLASSES,
        "feature_dim": FEATURES,
        **{name: array.astype(float).ravel().tolist() for name, array in data.items()},
        "expected": {name: values.tolist() for name, values in scores(doubles).items()},
    }
    # One array a line.
    text = json.dumps(golden, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]")
    with open(path, "w") as file:
        file.write(text.replace(', "', ',\n"') + "\n")


if __name__ == "__main__":
    main()
