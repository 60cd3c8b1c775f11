"""Writes eval/testdata/openood_scores.json: scores of real features, computed by the released code of others.

    python3 tools/peers/make_openood_golden.py OUTPUTS.npz OPENOOD WEIPER eval/testdata/openood_scores.json

OUTPUTS.npz comes from a network with a linear head in a store; OPENOOD and WEIPER are checkouts of Jingkang50/OpenOOD
and mgranz/weiper, whose files are run as they are, in double precision and on the CPU. Larger = more unknown: the
negative of what they give. The stored file was made with PyTorch 2.11.0, NumPy 2.4.6 and SciPy 1.17.1 on x86-64, OpenOOD
3c35632 and weiper 1c27a4f, from a training of the quickstart (Fashion-MNIST, 6 known classes, 64 features, of which those
that are 0 for all samples fitted to are left out): 90 known samples to fit to, 12 known and 12 unknown ones to score.
"""

import argparse
import importlib.util
import json
import os
import sys
from types import ModuleType, SimpleNamespace as Settings

import numpy as np
import torch

TRAIN, TEST, REPEATS = 90, 24, 3


class Index:
    """faiss.IndexFlatIP and IndexFlatL2."""

    def __init__(self, dim, inner=True):
        self.inner, self.rows = inner, np.zeros((0, dim))

    def add(self, rows):
        self.rows = np.concatenate([self.rows, rows])

    def search(self, queries, k):
        products = queries @ self.rows.T
        if self.inner:
            return -np.sort(-products, axis=1)[:, :k], None
        squares = ((queries[:, None] - self.rows[None]) ** 2).sum(2)
        return np.sort(squares, axis=1)[:, :k], None


def load(folder, name, package):
    """A source file as the module package.NAME."""
    spec = importlib.util.spec_from_file_location(f"{package}.{name}", os.path.join(folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Network(torch.nn.Module):
    """A linear head on its image, which are the features."""

    backbone = property(lambda self: self)

    def __init__(self, weight, bias):
        super().__init__()
        self.fc = torch.nn.Linear(*weight.shape[::-1])
        self.fc.weight.data, self.fc.bias.data = torch.tensor(weight), torch.tensor(bias)
        self.feature_size = weight.shape[1]

    def forward(self, image, return_feature=False, return_feature_list=False):
        feature = image.flatten(1).clone()  # some of the code changes it in place
        return (self.fc(feature), feature) if return_feature else self.fc(feature)

    def get_fc(self):
        return self.fc.weight.detach().numpy(), self.fc.bias.detach().numpy()

    def get_fc_layer(self):
        return self.fc


class Loader(list):
    batch_size, dataset = TRAIN, range(TRAIN)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("outputs", "openood", "weiper", "golden"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.Tensor.cuda = lambda self, *_: self
    torch.nn.Module.cuda = lambda self, *_: self
    torch.Tensor.float = lambda self: self
    sys.modules["faiss"] = Settings(IndexFlatIP=Index, IndexFlatL2=lambda dim: Index(dim, inner=False))

    outputs = np.load(arguments.outputs)
    known, unknown = np.flatnonzero(outputs["label"] >= 0), np.flatnonzero(outputs["label"] < 0)
    train, test = known[:TRAIN], np.concatenate([known[TRAIN:TRAIN + TEST // 2], unknown[:TEST // 2]])
    random = np.random.default_rng(7)
    # The residual's eigenvectors are from numpy.linalg.eig: not at right angles where features are always 0.
    alive = outputs["features"][train].max(0) > 0
    data = {"weight": outputs["head_weight"][:, alive], "bias": outputs["head_bias"],
            "train_label": outputs["label"][train],
            "train_features": outputs["features"][train][:, alive], "features": outputs["features"][test][:, alive]}
    for name in ("train_", ""):
        x = data[name + "features"]
        data[name + "perturbed_features"] = np.float32(np.round(x + random.normal(0, 0.2, x.shape), 3))
    classes, dim = data["weight"].shape
    noise = np.round(random.normal(0, 1, (REPEATS, classes, dim)), 3)
    network = Network(data["weight"].astype(float), data["bias"].astype(float))
    with torch.no_grad():  # of the features in double
        data["train_logits"], data["logits"] = (
            network(torch.tensor(data[name + "features"], dtype=torch.float64)).numpy() for name in ("train_", ""))
    image = {name: torch.tensor(data[name + "features"], dtype=torch.float64)[:, :, None, None]
             for name in ("train_", "")}
    batch = {"data": image["train_"], "label": torch.tensor(data["train_label"])}
    loaders = {split: Loader([batch]) for split in ("train", "val", "test")}

    for package in ("openood", "openood.postprocessors", "openood.networks"):
        sys.modules[package] = ModuleType(package)
    folder = os.path.join(arguments.openood, "openood")
    sys.modules["openood.utils"] = ModuleType("openood.utils")
    sys.modules["openood.utils.comm"] = Settings(is_main_process=lambda: True)
    sys.modules["openood.utils"].comm = sys.modules["openood.utils.comm"]
    sys.modules["openood.postprocessors.info"] = Settings(num_classes_dict={"real": classes})
    load(os.path.join(folder, "postprocessors"), "base_postprocessor", "openood.postprocessors")

    def score(name, class_name, net=None, **settings):
        module = load(os.path.join(folder, "postprocessors"), name + "_postprocessor", "openood.postprocessors")
        own = Settings(postprocessor_args=Settings(**settings), postprocessor_sweep=Settings())
        made = getattr(module, class_name)(Settings(postprocessor=own, dataset=Settings(name="real")))
        if "k1" in settings:
            changed = {len(image[n]): torch.tensor(data[n + "perturbed_features"], dtype=torch.float64)
                       for n in ("train_", "")}
            made.perturb = lambda x, _: changed[len(x)]
        used = net or network
        made.setup(used, loaders, None)
        if "k1" in settings:
            made.set_hyperparam([settings[k] for k in ("percentile", "k1", "k2", "lmbda", "o")])
        return -np.asarray(made.postprocess(used, image[""].clone())[1].detach(), dtype=float)

    networks = {name: load(os.path.join(folder, "networks"), name, "openood.networks")
                for name in ("scale_net", "adascale_net", "ash_net", "react_net")}
    adascale = {"percentile": [60, 95], "k1": 5, "k2": 5, "lmbda": 10, "o": 0.05}
    expected = {
        "nci": score("nci", "NCIPostprocessor", alpha=0.0001),
        "fdbd": score("fdbd", "fDBDPostprocessor", distance_as_normalizer=True),
        "fdbd_norm": score("fdbd", "fDBDPostprocessor", distance_as_normalizer=False),
        "scale": score("scale", "ScalePostprocessor", networks["scale_net"].ScaleNet(network), percentile=85),
        "adascale_a": score("adascale", "AdaScalePostprocessor", networks["adascale_net"].AdaScaleANet(network),
                            **adascale),
        "adascale_l": score("adascale", "AdaScalePostprocessor", networks["adascale_net"].AdaScaleLNet(network),
                            **adascale),
        "nnguide": score("nnguide", "NNGuidePostprocessor", K=10, alpha=1),
        "relation": score("relation", "RelationPostprocessor", pow=1),
        "relation_4": score("relation", "RelationPostprocessor", pow=4),
        "residual": score("residual", "ResidualPostprocessor", dim=20),
        "gradnorm": score("gradnorm", "GradNormPostprocessor"),
        "klm": score("kl_matching", "KLMatchingPostprocessor"),
        "vim": score("vim", "VIMPostprocessor", dim=20),
        "ash_b": score("ash", "ASHPostprocessor", networks["ash_net"].ASHNet(network), percentile=90),
        "react": score("react", "ReactPostprocessor", networks["react_net"].ReactNet(network), percentile=90),
        "dice": score("dice", "DICEPostprocessor", p=90),
        "gen": score("gen", "GENPostprocessor", gamma=0.1, M=100),
    }

    # WeiPer's heads, in the order in which each of its calls draws them.
    drawn = iter(())

    def next_noise(like):
        nonlocal drawn
        row = next(drawn, None)
        if row is None:
            drawn = iter(noise)
            row = next(drawn)
        return torch.tensor(row, dtype=like.dtype)

    torch.randn_like = next_noise
    sys.modules["openood.postprocessors.weiper_kldiv"] = ModuleType("openood.postprocessors.weiper_kldiv")
    folder = os.path.join(arguments.weiper, "Weiper", "OpenOOD", "openood")
    load(os.path.join(folder, "postprocessors", "weiper_kldiv"), "utils", "openood.postprocessors.weiper_kldiv")
    expected["weiper_kld"] = score("weiper_kldiv", "WeiPerKLDivPostprocessor", n_repeats=REPEATS, lambda_1=2.5,
                                   lambda_2=0.1, n_bins=100, perturbation_distance=1.8, smoothing=4,
                                   smoothing_perturbed=15, exact_minmax=True, n_samples_for_setup=300000)

    golden = {
        "about": "Made by tools/peers/make_openood_golden.py. Larger = more unknown.",
        "num_classes": classes,
        "feature_dim": dim,
        **{name: [float(f"{v:.9g}") for v in np.float32(array).ravel()] if name != "train_label"
           else array.tolist() for name, array in data.items()},
        "weiper_noise": noise.ravel().tolist(),
        "expected": {name: values.tolist() for name, values in expected.items()},
    }
    # One array a line; nine digits tell all floats apart.
    text = json.dumps(golden, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]")
    with open(arguments.golden, "w") as file:
        file.write(text.replace(', "', ',\n"') + "\n")


if __name__ == "__main__":
    main()
