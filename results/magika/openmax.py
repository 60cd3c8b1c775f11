"""Why OpenMax ranks files as it does: parts of its score, from the arrays of make_arrays.py, in NumPy.

    python3 results/magika/openmax.py ARRAYS

OpenMax (Bendale and Boult 2016, with tail 20 and alpha 10) takes from each of the ten largest logits z_c the part z_c w_c
omega_c, where w_c is the Weibull probability that the file is far from class c and omega_c falls from 1 to 0.1 with the
rank. What is taken is the logit of the unknown. An output that no file of the fit has as its label has no distribution:
w_c = 0. Prints means over the ten splits.
"""

import os
import sys

import numpy

TAIL, ALPHA, SHIFT = 20, 10, 10000.0


def auroc(known, unknown):
    """In percent; larger scores are more unknown."""
    both = numpy.concatenate([known, unknown])
    _, place, count = numpy.unique(both, return_inverse=True, return_counts=True)
    rank = (numpy.cumsum(count) - (count - 1) / 2)[place]
    wins = rank[len(known):].sum() - len(unknown) * (len(unknown) + 1) / 2
    return 100 * wins / (len(known) * len(unknown))


def distance(rows, mean):
    cosine = rows @ mean / numpy.linalg.norm(rows, axis=1) / numpy.linalg.norm(mean)
    return 0.005 * numpy.linalg.norm(rows - mean, axis=1) + 1 - cosine


def weibull(tail):
    """Scale and shape of largest likelihood of positive numbers, by bisection over the shape."""
    logs = numpy.log(tail)
    low, high = 1e-3, 1e12
    for _ in range(200):
        shape = (low * high) ** 0.5
        weight = numpy.exp(shape * (logs - logs.max()))
        slope = 1 / shape + logs.mean() - (weight * logs).sum() / weight.sum()
        low, high = (shape, high) if slope > 0 else (low, shape)
    return numpy.exp(logs.max()) * numpy.exp(shape * (logs - logs.max())).mean() ** (1 / shape), shape


def parts(arrays, split):
    """{description: value} of one split."""
    test, fit = (numpy.load(os.path.join(arrays, f"{name}_{split}.npz")) for name in ("test", "fit"))
    z, label = test["logits"].astype(float), test["label"]
    fit_z, fit_label = fit["logits"].astype(float), fit["label"]
    known, top = label >= 0, z.argmax(axis=1)
    right = fit_z.argmax(axis=1) == fit_label
    far = numpy.zeros_like(z)  # w_c of each file and class
    has_files = numpy.zeros(z.shape[1], bool)
    distances = numpy.full(z.shape, numpy.inf)
    for c in numpy.unique(fit_label[right]):
        of_class = fit_z[right & (fit_label == c)]
        mean = of_class.mean(axis=0)
        tail = numpy.sort(distance(of_class, mean))[-TAIL:]
        scale, shape = weibull(tail - tail.min() + SHIFT)
        distances[:, c] = distance(z, mean)
        shifted = numpy.maximum(distances[:, c] - tail.min() + SHIFT, 0)
        far[:, c] = 1 - numpy.exp(-(shifted / scale) ** shape)
        has_files[c] = True
    order = numpy.argsort(-z, axis=1)
    rank = numpy.argsort(order, axis=1)
    weight = numpy.maximum(ALPHA - rank, 0) / ALPHA

    def probability(far, weight):
        removed = z * far * weight
        revised = numpy.column_stack([z - removed, removed.sum(axis=1)])
        revised = numpy.exp(revised - revised.max(axis=1, keepdims=True))
        return revised[:, -1] / revised.sum(axis=1)

    row = numpy.arange(len(z))
    first = weight * (rank == 0)
    completed = numpy.where(has_files, far, 1.0)
    taken_below = (z * far * weight * (rank > 0)).sum(axis=1)

    def measured(score, of=slice(None)):
        chosen = numpy.zeros(len(z), bool)
        chosen[of] = True
        return auroc(score[known & chosen], score[~known & chosen])

    seen = has_files[top]
    return {
        "unknown files whose label has no file in the fit, %": 100 * (~seen[~known]).mean(),
        "known files whose label has none, %": 100 * (~seen[known]).mean(),
        "AUROC of OpenMax": measured(probability(far, weight)),
        "AUROC, the largest logit alone is revised": measured(probability(far, first)),
        "AUROC, w = 1 for labels without files": measured(probability(completed, weight)),
        "AUROC, both": measured(probability(completed, first)),
        "AUROC of w of the predicted class, 1 without files": measured(completed[row, top]),
        "AUROC of w of the predicted class, files with a fitted label alone": measured(far[row, top], seen),
        "AUROC of the distance to the predicted class, files with a fitted label alone": measured(
            numpy.where(seen, distances[row, top], 0), seen),
        "AUROC of the distance to the nearest class": measured(distances.min(axis=1)),
        "taken from ranks 2 to 10, median of known files": numpy.median(taken_below[known]),
        "taken from ranks 2 to 10, median of unknown files": numpy.median(taken_below[~known]),
        "largest logit, median of known files": numpy.median(z.max(axis=1)[known]),
        "largest logit, median of unknown files": numpy.median(z.max(axis=1)[~known]),
        "probability of the unknown, median of known files, %": 100 * numpy.median(probability(far, weight)[known]),
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    splits = [parts(sys.argv[1], split) for split in range(10)]
    for name in splits[0]:
        print(f"{numpy.mean([split[name] for split in splits]):7.2f}  {name}")
