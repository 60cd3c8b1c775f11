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
from sklearn import covariance

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
    # Of images that were changed a little, and directions of weiper_kld's heads.
    more = np.random.default_rng(21)
    for name, x in (("train_perturbed_features", train), ("perturbed_features", test)):
        data[name] = np.float32(np.round(x + more.normal(0, 0.2, x.shape), 3))
    data["weiper_noise"] = np.round(more.normal(0, 1, 3 * CLASSES * FEATURES), 3)
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


# The forms that the package libmr doesn't give: a translation of 10000, and the distribution of logits, whose released
# code, torchosr, has a fit of its own (tools/peers/torchosr_peer.py runs it).
def openmax(d, distance, tail, alpha, rank_weight, translation, of_logit=False, euclidean_weight=0.005):
    z, train, label = d["logits"], d["train_logits"], d["train_label"]

    def distances(rows, mean):
        euclid = np.linalg.norm(rows - mean, axis=1)
        cosine = np.array([spatial.distance.cosine(row, mean) for row in rows])
        return {"eucos": euclidean_weight * euclid + cosine, "euclidean": euclid}[distance]

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


def dice(d, percentile):
    contribution = d["train_features"].mean(0) * d["weight"]
    weight = np.where(contribution > np.percentile(contribution, percentile), d["weight"], 0)
    return energy(d["features"] @ weight.T + d["bias"])


def nci(d, alpha):
    centred = d["features"] - d["train_features"].mean(0)
    w = d["weight"][d["logits"].argmax(1)]
    return -((w * centred).sum(1) / np.linalg.norm(centred, axis=1) + alpha * np.abs(d["features"]).sum(1))


def fdbd(d, centred):
    z, y = d["logits"], d["logits"].argmax(1)
    between = np.linalg.norm(d["weight"][:, None] - d["weight"][None], axis=2) + np.eye(CLASSES)
    to_boundaries = (np.abs(z - z.max(1, keepdims=True)) / between[y]).sum(1)
    return -to_boundaries / np.linalg.norm(d["features"] - centred * d["train_features"].mean(0), axis=1)


def weiper_kld(d, repeats, distance, bins, lambda_1, lambda_2, smoothing, smoothing_perturbed):
    noise = d["weiper_noise"].reshape(repeats, CLASSES, FEATURES)
    w = d["weight"]
    w = w + distance * np.linalg.norm(w, axis=1)[:, None] * noise / np.linalg.norm(noise, axis=2, keepdims=True)

    def perturbed(x):
        return np.concatenate([x @ head.T + d["bias"] for head in w], axis=1)

    def histograms(rows, edges):
        ends = np.concatenate([[-np.inf], edges, [np.inf]])
        inside = (rows[:, :, None] >= ends[:-1]) & (rows[:, :, None] < ends[1:])
        return inside.mean(1)[:, 1:-1]

    def smooth(rows, size):
        below = (size - 1) // 2
        padded = np.pad(rows, ((0, 0), (below, size - 1 - below)), mode="edge")
        return np.lib.stride_tricks.sliding_window_view(padded, size, axis=1).mean(2)

    def divergence(train, test, size, epsilon):
        edges = np.linspace(train.min(), train.max() + 1e-8, bins + 1)
        p = histograms(train, edges).mean(0) + epsilon
        q = smooth(histograms(test, edges), size) + epsilon
        p, q = p / p.sum(), q / q.sum(1, keepdims=True)
        return np.array([stats.entropy(p, row) + stats.entropy(row, p) for row in q])

    v = perturbed(d["features"])
    msp = special.softmax(v.reshape(-1, repeats, CLASSES), axis=2).max(2).mean(1)
    return (divergence(d["train_features"], d["features"], smoothing, 0.01)
            + lambda_1 * divergence(perturbed(d["train_features"]), v, smoothing_perturbed, 0.025) - lambda_2 * msp)


def top_sum(rows, of, count):
    order = np.argsort(-rows, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(of, order, axis=1).sum(1)


def scale(d, percentile):
    x = d["features"]
    ratio = x.sum(1) / top_sum(x, x, FEATURES - int(np.round(FEATURES * percentile / 100)))
    return energy((x * np.exp(ratio)[:, None]) @ d["weight"].T + d["bias"])


def adascale(d, variant, low, high, k1, k2, weight):
    def shift(x, changed):
        return (top_sum(x, np.maximum(changed, 0), int(FEATURES * k1 / 100))
                + weight * top_sum(x, np.abs(x - changed), int(FEATURES * k2 / 100)))

    x = d["features"]
    fitted = stats.ecdf(shift(d["train_features"], d["train_perturbed_features"])).cdf
    percentile = low + (1 - fitted.evaluate(shift(x, d["perturbed_features"]))) * (high - low)
    keep = FEATURES - np.round(FEATURES * percentile / 100).astype(int)
    ratio = np.array([row.sum() / np.sort(row)[-k:].sum() for row, k in zip(np.maximum(x, 0), keep)])[:, None]
    if variant == "A":
        return energy((x * np.exp(ratio)) @ d["weight"].T + d["bias"])
    return energy((x @ d["weight"].T + d["bias"]) * ratio**2)


def nnguide(d, k):
    bank = d["train_features"] / np.linalg.norm(d["train_features"], axis=1, keepdims=True)
    bank = bank * special.logsumexp(d["train_logits"], axis=1)[:, None]
    unit = d["features"] / np.linalg.norm(d["features"], axis=1, keepdims=True)
    return energy(d["logits"]) * np.sort(unit @ bank.T, axis=1)[:, -k:].mean(1)


def relation(d, power, threshold):
    unit = [x / np.sqrt((x**2).sum(1, keepdims=True) + 1e-10) for x in (d["features"], d["train_features"])]
    p = [special.softmax(z, axis=1) for z in (d["logits"], d["train_logits"])]
    edges = np.maximum(unit[0] @ unit[1].T, 0) * (p[0] @ p[1].T)
    return -np.where(edges > threshold, edges**power, 0).sum(1)


def residual(d, dim):
    u = -np.linalg.pinv(d["weight"]) @ d["bias"]
    values, vectors = np.linalg.eigh((d["train_features"] - u).T @ (d["train_features"] - u))
    return np.linalg.norm((d["features"] - u) @ vectors[:, np.argsort(-values)[dim:]], axis=1)


def gradnorm(d):
    # The gradient itself, as a finite sum of its entries: dL/dz_c x_d.
    p = special.softmax(d["logits"], axis=1)
    return -np.abs((CLASSES * p - 1)[:, :, None] * d["features"][:, None, :]).sum((1, 2))


def klm(d):
    p, train = special.softmax(d["logits"], axis=1), special.softmax(d["train_logits"], axis=1)
    means = [train[train.argmax(1) == c].mean(0) for c in range(CLASSES)]
    return np.array([[stats.entropy(row, mean) for mean in means] for row in p]).min(1)


def react(d, clip):
    return energy(np.minimum(d["features"], clip) @ d["weight"].T + d["bias"])


def scores(d):
    return {
        "react_90": react(d, np.percentile(d["train_features"], 90)),
        "react_clip_1": react(d, 1),
        "openmax": openmax(d, "eucos", 20, 10, None, 10000),
        "openmax_alpha_2": openmax(d, "eucos", 20, 2, None, 10000),
        "openmax_of_logit": openmax(d, "euclidean", 20, 4, 1, 1, of_logit=True),
        "vim": vim(d, FEATURES // 2),
        "vim_6": vim(d, 6),
        "gen": gen(d, 0.1, 100),
        "gen_2": gen(d, 0.5, 2),
        "dice_90": dice(d, 90),
        "dice_50": dice(d, 50),
        "nci": nci(d, 0.0001),
        "nci_long": nci(d, 0.1),
        "fdbd": fdbd(d, True),
        "fdbd_norm": fdbd(d, False),
        "weiper_kld": weiper_kld(d, 3, 1.8, 100, 2.5, 0.1, 4, 15),
        "weiper_kld_few": weiper_kld(d, 3, 2.4, 7, 0.1, 1, 1, 2),
        "scale": scale(d, 85),
        "scale_65": scale(d, 65),
        "adascale_a": adascale(d, "A", 61.5, 92, 50, 25, 10),
        "adascale_l": adascale(d, "L", 77, 85, 100, 50, 0.5),
        "nnguide": nnguide(d, 10),
        "nnguide_1": nnguide(d, 1),
        "relation": relation(d, 1, 0.03),
        "relation_4": relation(d, 4, 0.3),
        "residual": residual(d, FEATURES // 2),
        "residual_6": residual(d, 6),
        "gradnorm": gradnorm(d),
        "klm": klm(d),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    path = parser.parse_args().output
    data = make_data()
    doubles = {name: array if name == "train_label" else array.astype(float) for name, array in data.items()}
    golden = {
        "about": "Made by tools/peers/make_score_golden.py. Larger = more unknown. OpenMax is written from the papers: its "
                 "code with libMR's translation of 1 is run by make_released_golden.py.",
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
