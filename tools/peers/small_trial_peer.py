"""Runs a small trial of a study in PyTorch, as in a script of two dozen lines, and pytorch-ood's scores of its network.

    python3 tools/peers/small_trial_peer.py trial FOLDER [--seed=0] [--steps=60] [--save=net.pt]
    python3 tools/peers/small_trial_peer.py scores FOLDER net.pt

FOLDER has the four files of Fashion-MNIST. A trial trains osrci_cnn (batches of 128, SGD) on the known classes of the
first split of the task fashion_mnist_6_4, and prints accuracy and AUROC of the largest logit. `scores` loads such a
network, gives it the training and test images once, fits and computes the scores of pytorch-ood, and prints the seconds
and the AUROC of each. tools/benchmarks.py runs both and openset. Needs torch, numpy and pytorch-ood; made for 2.11.0,
2.4.6 and 0.4.0.
"""

import argparse
import gzip
import json
import os
import time

import numpy as np
import torch
from torch.nn import functional

import networks

KNOWN = [2, 6, 3, 8, 9, 5]  # data/tasks/fashion_mnist_6_4.textproto, split 0
MEAN, STD = 0.2860, 0.3530


def read(folder, part):
    def content(name, header):
        with gzip.open(os.path.join(folder, name)) as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)
    label = content(f"{part}-labels-idx1-ubyte.gz", 8)
    image = content(f"{part}-images-idx3-ubyte.gz", 16).reshape(len(label), 1, 28, 28)
    place = np.full(10, -1)
    place[KNOWN] = np.arange(len(KNOWN))
    return torch.from_numpy(image.copy()), torch.from_numpy(place[label])


def prepared(image):
    return (image.float() / 255 - MEAN) / STD


def outputs(network, image, batch=500):
    """Features and logits, in the channels-last layout."""
    network.eval()
    with torch.no_grad():
        parts = [network(prepared(part).contiguous(memory_format=torch.channels_last)) for part in image.split(batch)]
    return torch.cat([f for f, _ in parts]), torch.cat([z for _, z in parts])


def auroc(label, score):
    score = np.asarray(score, dtype=np.float64).ravel()
    values, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    unknown = np.asarray(label) < 0
    u, k = unknown.sum(), (~unknown).sum()
    return float((rank[unknown].sum() - u * (u + 1) / 2) / (u * k))


def trial(options):
    torch.manual_seed(options.seed)
    image, label = read(options.folder, "train")
    image, label = image[label >= 0], label[label >= 0]
    network = networks.Network(networks.OsrciCnn(1, 28, dropout=0.1), len(KNOWN)).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    network.train()
    for rows in torch.randperm(len(label)).split(128)[:options.steps]:
        optimizer.zero_grad()
        functional.cross_entropy(network(prepared(image[rows]))[1], label[rows]).backward()
        optimizer.step()
    if options.save:
        network.eval()
        torch.jit.trace(network, torch.zeros(2, 1, 28, 28)).save(options.save)
    image, label = read(options.folder, "t10k")
    _, logits = outputs(network, image)
    known = label >= 0
    print(json.dumps({"accuracy": (logits.argmax(1) == label)[known].float().mean().item(),
                      "auroc": auroc(label, -logits.max(1).values)}))


def detectors(head, fit, fit_logits, fit_label, test, test_logits):
    """{method of openset: its pytorch-ood scores}, each as a function."""
    from pytorch_ood import detector as d
    identity = torch.nn.Identity()
    weight, bias, dim = head.weight, head.bias, fit.shape[1]
    flat = lambda maps: head(maps.flatten(1))
    maps = lambda x: x[:, :, None, None]

    def fitted(made):
        made.fit_features(fit, fit_label)
        return made.predict_features(test)

    def shaped(made):
        if hasattr(made, "fit_feature_maps"):
            made.fit_feature_maps(maps(fit), fit_label)
        return made.predict_feature_maps(maps(test))

    return {
        "mcp": lambda: d.MaxSoftmax.score(test_logits),
        "max_logit": lambda: d.MaxLogit.score(test_logits),
        "energy_score": lambda: d.EnergyBased.score(test_logits),
        "entropy": lambda: d.Entropy.score(test_logits),
        "gen": lambda: d.GEN(None, gamma=0.1, M=100).predict_logits(test_logits),
        "klm": lambda: d.KLMatching(None).fit_logits(fit_logits, fit_label).predict_logits(test_logits),
        "mahalanobis": lambda: fitted(d.Mahalanobis(None)),
        "relative_mahalanobis": lambda: fitted(d.RMD(None)),
        "vim": lambda: fitted(d.ViM(None, d=dim // 2, w=weight, b=bias)),
        "knn": lambda: fitted(d.KNN(None, k=50)),
        "she": lambda: fitted(d.SHE(identity, head)),
        "nci": lambda: fitted(d.NCI(identity, head, alpha=0.0001)),
        "fdbd": lambda: fitted(d.fDBD(identity, head)),
        "nnguide": lambda: fitted(d.NNGuide(identity, head, k=10)),
        "react": lambda: shaped(d.ReAct(identity, flat, percentile=0.9)),
        "dice": lambda: fitted(d.DICE(None, w=weight, b=bias, p=0.9)),
        "ash": lambda: shaped(d.ASH(identity, flat, variant="ash-s", percentile=0.65)),
        "scale": lambda: shaped(d.SCALE(identity, flat, percentile=0.85)),
        "pnml": lambda: fitted(d.PNML(None, head)),
        "gmm": lambda: fitted(d.GMM(None)),
    }


def scores(options):
    begin = time.perf_counter()
    network = torch.jit.load(options.network)
    parameters = dict(network.named_parameters())
    weight, bias = parameters["head.weight"].detach(), parameters["head.bias"].detach()
    head = torch.nn.Linear(weight.shape[1], weight.shape[0])
    head.weight.data, head.bias.data = weight, bias
    image, label = read(options.folder, "train")
    fit_label = label[label >= 0]
    fit, fit_logits = outputs(network, image[label >= 0])
    image, label = read(options.folder, "t10k")
    test, test_logits = outputs(network, image)
    seconds, found, failed = {"outputs": time.perf_counter() - begin}, {}, {}
    with torch.no_grad():
        for name, compute in detectors(head, fit, fit_logits, fit_label, test, test_logits).items():
            begin = time.perf_counter()
            try:
                found[name] = auroc(label, compute())
                seconds[name] = time.perf_counter() - begin
            except Exception as error:  # a score that does not run on these arrays is omitted on both sides
                failed[name] = str(error).splitlines()[0]
    print(json.dumps({"seconds": seconds, "auroc": found, "failed": failed}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["trial", "scores"])
    parser.add_argument("folder")
    parser.add_argument("network", nargs="?")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--save")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    trial(options) if options.what == "trial" else scores(options)


if __name__ == "__main__":
    main()
