"""Writes tools/testing/testdata/fashion_network.pt, a small network as a TorchScript archive, and fashion_network.json:
what PyTorch and scikit-learn say of it.

    python3 tools/peers/make_fashion_network.py FOLDER_OF_FASHION_MNIST tools/testing/testdata

It is trained on the known classes of split 0 of the task fashion_mnist_6_4 and measured on the first 50 test images of
each class. The stored files were made with PyTorch 2.11.0 and scikit-learn 1.9.1. Training again gives another network,
by the order of floating-point sums; the two files belong together.
"""

import argparse
import gzip
import json
import os

import numpy as np
import torch
from sklearn import metrics
from torch.nn import functional

import networks

KNOWN = [2, 6, 3, 8, 9, 5]
UNKNOWN = [1, 7, 0, 4]
MEAN, STD = 0.286, 0.353
TRAIN_LIMIT, TEST_LIMIT = 2000, 50
EPOCHS, BATCH = 4, 64


class Classifier(networks.Network):
    """Gives logits only."""

    def forward(self, image):
        return self.head(self.backbone(image))


def read(folder, part):
    """Normalised images [N, 1, 28, 28] and class ids."""
    with gzip.open(os.path.join(folder, f"{part}-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(folder, f"{part}-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return (torch.tensor(images).float() / 255 - MEAN) / STD, labels


def first(labels, classes, limit):
    """Places of the first so many samples of each class, and the place of their class in the list."""
    places = [np.flatnonzero(labels == c)[:limit] for c in classes]
    return np.concatenate(places), np.repeat(np.arange(len(classes)), [len(p) for p in places])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)

    images, labels = read(arguments.data, "train")
    places, target = first(labels, KNOWN, TRAIN_LIMIT)
    images, target = images[places], torch.tensor(target)
    network = Classifier(networks.OsrciCnn(channels_in=1, size=28, feature_dim=32, dropout=0.2), len(KNOWN))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(target)).split(BATCH):
            optimizer.zero_grad()
            functional.cross_entropy(network(images[batch]), target[batch]).backward()
            optimizer.step()
    network.eval()
    networks.save_script(torch.jit.script(network), os.path.join(arguments.folder, "fashion_network.pt"))

    images, labels = read(arguments.data, "t10k")
    known, target = first(labels, KNOWN, TEST_LIMIT)
    unknown, _ = first(labels, UNKNOWN, TEST_LIMIT)
    with torch.no_grad():
        logits = network(images[np.concatenate([known, unknown])]).double()
    is_unknown = np.repeat([0, 1], [len(known), len(unknown)])
    hits = logits[: len(known)].argmax(1).numpy() == target
    result = {"accuracy": float(hits.mean())}
    scores = {"mcp": -logits.softmax(1).amax(1), "max_logit": -logits.amax(1), "energy_score": -logits.logsumexp(1)}
    for name, score in scores.items():
        result[name] = {
            "auroc": metrics.roc_auc_score(is_unknown, score.numpy()),
            "aupr_unknown": metrics.average_precision_score(is_unknown, score.numpy()),
        }
    with open(os.path.join(arguments.folder, "fashion_network.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
