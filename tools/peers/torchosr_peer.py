"""Compares the samples that openmax_class_imbalance and torchosr's released class reject.

    pip install torch torchosr openset && python tools/peers/torchosr_peer.py

For 2, 3, 4 and 6 known classes and two distances between classes, both are fitted to 2,000 samples and decide on 600
known and 424 unknown ones, in batches of 64. Prints a line for each; fails if a number of decisions differs. Tried with
torchosr 0.1.6 and SciPy 1.17.
"""
import sys

import numpy
import torch
from torch.utils.data import DataLoader, TensorDataset
from torchosr.models.Openmax import Openmax

import openset

# Known classes and the epsilon of experiments/methods/openmax_class_imbalance_corrected.textproto.
LEVELS = ((2, 0.6), (3, 0.5), (4, 0.4), (6, 0.1))


def normalised(logits):
    """Logits as torchosr's networks return them."""
    logits = logits.astype(numpy.float32)
    return logits / (numpy.linalg.norm(logits, axis=1, keepdims=True) + numpy.float32(1e-4))


def known(random, count, classes, distance):
    label = random.integers(0, classes, count)
    logits = random.normal(0, 1, (count, classes))
    logits[numpy.arange(count), label] += distance
    return normalised(logits), label


def unknown(random, count, classes):
    return normalised(random.normal(0, 1, (count, classes)) + random.normal(0, 1, (count, 1))), numpy.full(count, -1)


def loader(logits, label, classes):
    of = torch.nn.functional.one_hot(torch.tensor(numpy.where(label < 0, classes, label)), classes + 1).float()
    return DataLoader(TensorDataset(torch.tensor(logits), of), batch_size=64)


def theirs(fit, test, classes, epsilon):
    """[[unknown rejected, unknown accepted], [known rejected, known accepted]]"""
    model = Openmax(lower_stack=torch.nn.Identity(), n_known=classes, epsilon=epsilon)
    model.upper_stack, model._norm = torch.nn.Identity(), lambda logits: logits
    weight = torch.nn.Parameter(torch.zeros(1))
    model.train(loader(*fit, classes), lambda *_: (weight * 0).sum(), torch.optim.SGD([weight], lr=0.0))
    return model.test(loader(*test, classes), None, conf=True)[5].tolist()


def ours(fit, test, epsilon):
    score = openset.scores.OpenMax(distance="EUCLIDEAN", tail=20, alpha=1000, rank_weight=1, translation=10000,
                                   cdf_of="LOGIT", value="REJECTION", tail_distribution="EXPONENTIATED_WEIBULL",
                                   unrevised_of_batch=64)
    rejected = numpy.asarray(score.fit(logits=fit[0], label=fit[1]).score_samples(logits=test[0])) >= -epsilon
    is_known = test[1] >= 0
    return [[int(numpy.sum(group & rejected)), int(numpy.sum(group & ~rejected))] for group in (~is_known, is_known)]


def main():
    differing = 0
    for classes, epsilon in LEVELS:
        for distance in (1, 3):
            random = numpy.random.default_rng(10 * classes + distance)
            fit = known(random, 2000, classes, distance)
            parts = known(random, 600, classes, distance), unknown(random, 424, classes)
            order = random.permutation(1024)
            test = tuple(numpy.concatenate(arrays)[order] for arrays in zip(*parts))
            a, b = ours(fit, test, epsilon), theirs(fit, test, classes, epsilon)
            differing += a != b
            print(f"{classes} known classes, distance {distance}: openset {a}, torchosr {b}")
    sys.exit(f"{differing} of {2 * len(LEVELS)} differ" if differing else 0)


if __name__ == "__main__":
    main()
