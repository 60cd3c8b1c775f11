"""Writes eval/testdata/distance_scores.json: scores that read features, from their formulas, with NumPy, SciPy,
scikit-learn.

    python3 tools/peers/make_distance_score_golden.py eval/testdata/distance_scores.json

The stored file was made with NumPy 2.4.6, SciPy 1.17.1 and scikit-learn 1.9.1 on x86-64. Two cases: "random", the
arrays of make_score_golden.py; "digits", real ones: scikit-learn's 8 x 8 digits, the hidden layer of 12 units of a
network trained on the classes 0 to 4, to score 10 test images of them and 10 of the digits 5 to 9. Larger = more
unknown.
"""

import argparse
import json

import numpy as np
from make_score_golden import make_data, weibull
from scipy import spatial, special, stats
from sklearn import datasets, neural_network


def make_digits():
    images, label = datasets.load_digits(return_X_y=True)
    images = images / 16
    known = np.flatnonzero(label < 5)
    train = np.concatenate([known[label[known] == c][:40] for c in range(5)])
    network = neural_network.MLPClassifier((12,), max_iter=2000, random_state=3).fit(images[train], label[train])
    unseen = np.concatenate([known[label[known] == c][100:102] for c in range(5)])
    others = np.concatenate([np.flatnonzero(label == c)[:2] for c in range(5, 10)])

    def features(rows):
        return np.float32(np.round(np.maximum(images[rows] @ network.coefs_[0] + network.intercepts_[0], 0), 3))

    data = {
        "weight": np.float32(np.round(network.coefs_[1].T, 3)),
        "bias": np.float32(np.round(network.intercepts_[1], 3)),
        "train_label": label[train],
        "train_features": features(train),
        "features": features(np.concatenate([unseen, others])),
    }
    for name, x in (("train_logits", data["train_features"]), ("logits", data["features"])):
        data[name] = np.float32(x.astype(float) @ data["weight"].astype(float).T + data["bias"])
    return data


def postmax(d):
    correct = d["train_logits"].argmax(1) == d["train_label"]
    quotient = d["train_logits"].max(1) / np.linalg.norm(d["train_features"], axis=1)
    fit = stats.genpareto.fit(quotient[correct])
    return -stats.genpareto.cdf(d["logits"].max(1) / np.linalg.norm(d["features"], axis=1), *fit)


def openmax_revised(d, tail, alpha, translation):
    """The K + 1 probabilities of the paper, with the distance "eucos". The package libmr has no translation but 1."""
    z, train, label = d["logits"], d["train_logits"], d["train_label"]

    def distance(row, mean):
        return 0.005 * spatial.distance.euclidean(row, mean) + spatial.distance.cosine(row, mean)

    tails = []
    for c in range(z.shape[1]):
        rows = train[(label == c) & (train.argmax(1) == c)]
        mean = rows.mean(0)
        largest = np.sort([distance(row, mean) for row in rows])[-tail:]
        tails.append((mean, largest.min(), *weibull(largest, translation)))
    revised = np.column_stack([z, np.zeros(len(z))])
    for row in range(len(z)):
        for place, c in enumerate(np.argsort(-z[row])[:alpha]):
            mean, smallest, shape, scale = tails[c]
            w = stats.weibull_min.cdf(distance(z[row], mean) - smallest + translation, shape, scale=scale)
            w *= (alpha - place) / alpha
            revised[row, c] = z[row, c] * (1 - w)
            revised[row, -1] += z[row, c] * w
    return special.softmax(revised, axis=1)


def scores(d):
    paper = openmax_revised(d, 20, 10, 10000)
    return {
        "openmax": paper[:, -1],
        "openmax_prediction": paper.argmax(1),
        "postmax": postmax(d),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    path = parser.parse_args().output
    golden = {"about": "Made by tools/peers/make_distance_score_golden.py. Larger = more unknown. "
                       "OpenMax is written from the papers: its code with libMR's translation of 1 is run by "
                       "make_released_golden.py."}
    for name, data in (("random", make_data()), ("digits", make_digits())):
        doubles = {key: array if key == "train_label" else array.astype(float) for key, array in data.items()}
        golden[name] = {
            "num_classes": data["weight"].shape[0],
            "feature_dim": data["weight"].shape[1],
            **{key: array.astype(float).ravel().tolist() for key, array in data.items()},
            "expected": {key: values.tolist() for key, values in scores(doubles).items()},
        }
    # One array a line.
    text = json.dumps(golden, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]")
    with open(path, "w") as file:
        file.write(text.replace(', "', ',\n"') + "\n")


if __name__ == "__main__":
    main()
