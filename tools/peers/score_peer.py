"""Compares the AUROC of our scores with those of pytorch-ood, OpenOOD, torch-uncertainty and formulas, on the same
arrays.

    bazel build //tools:openset
    python3 tools/peers/score_peer.py --openset=bazel-bin/tools/openset [--openood=CHECKOUT]

The arrays are random, with a fixed seed: features of a network with ReLUs (64, of 10 known classes), a linear head
fitted to them, 3,000 samples to fit scores to, 1,000 known and 1,000 unknown ones to test, all in f32. Each peer gets
the same arrays, and its scores are measured by the same code (rank AUROC, ties count 1/2). The formulas come from
make_score_golden.py and make_distance_score_golden.py and, for ssd, weighted_energy and combine, below. Prints the
Markdown table of docs/eval.md, which was made with PyTorch 2.11.0, pytorch-ood 0.4.0, torch-uncertainty 0.13.0, NumPy
2.4.6, SciPy 1.17.1, scikit-learn 1.9.1, and OpenOOD 3c35632 in double precision.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from types import ModuleType, SimpleNamespace as Settings

import numpy as np
import torch
from scipy import spatial, special, stats

import make_distance_score_golden as distance_golden
import make_score_golden as golden
from make_openood_golden import Index, Loader, Network, load

CLASSES, DIM, TRAIN, TEST, SEED = 10, 64, 3000, 1000, 5
WEIGHTS = np.linspace(-0.5, 2, CLASSES)  # of weighted_energy
WEIGHTED_ENERGY = "weighted_energy { " + " ".join(f"weight: {weight}" for weight in WEIGHTS) + " }"
COMBINE = "combine { score { energy {} } score { knn { k: 50 } } rule: FISHER }"
OVERALL_VRA = "vra { low_percentile: 10 high_percentile: 90 thresholds: OVERALL low: CLIP }"
SHORT = {WEIGHTED_ENERGY: "weighted_energy"}  # in the table


def made_up():
    random = np.random.default_rng(SEED)
    mean = random.normal(0, 0.35, (CLASSES + 4, DIM))

    def draw(label, count):
        x = np.maximum(mean[label] + random.normal(0, 1, (count, DIM)) * random.uniform(0.6, 1.4, (count, 1)), 0)
        x[:, -8:] = 0.5 * x[:, :8] + np.maximum(random.normal(0, 2e-4, (count, 8)), 0)  # nearly the same, as trained ones
        return x

    train_label = random.integers(0, CLASSES, TRAIN)
    label = np.concatenate([random.integers(0, CLASSES, TEST), random.integers(CLASSES, CLASSES + 4, TEST)])
    train, test = draw(train_label, TRAIN), draw(label, 2 * TEST)
    design = np.hstack([train, np.ones((TRAIN, 1))])
    target = 8 * np.eye(CLASSES)[train_label] - 0.8
    solved = np.linalg.solve(design.T @ design + 10 * np.eye(DIM + 1), design.T @ target)
    arrays = {"head_weight": solved[:DIM].T, "head_bias": solved[DIM], "train": train, "test": test}
    arrays = {name: np.float32(array) for name, array in arrays.items()}
    for name in ("train", "test"):
        arrays[name + "_logits"] = arrays[name] @ arrays["head_weight"].T + arrays["head_bias"]
    return {**arrays, "train_label": train_label, "label": np.where(label < CLASSES, label, -1)}


def auroc(label, score):
    """Ranks with ties at their mean."""
    score = np.asarray(score, dtype=np.float64).ravel()
    values, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    unknown = label < 0
    u, k = unknown.sum(), (~unknown).sum()
    return (rank[unknown].sum() - u * (u + 1) / 2) / (u * k)


def ours(openset, data, folder, score):
    files = []
    for name, label in (("test", data["label"]), ("train", data["train_label"])):
        files.append(os.path.join(folder, name + ".npz"))
        np.savez(files[-1], label=label, logits=data[name + "_logits"], features=data[name],
                 head_weight=data["head_weight"], head_bias=data["head_bias"])
    run = subprocess.run([openset, "eval", files[0], f"--fit={files[1]}", f"--score={score}", "--metrics=auroc",
                          "--format=json"], capture_output=True, text=True)
    if run.returncode != 0:  # scores that are not fitted don't accept --fit
        run = subprocess.run([openset, "eval", files[0], f"--score={score}", "--metrics=auroc", "--format=json"],
                             capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["metrics"]["auroc"]["value"]


def pytorch_ood(data):
    from pytorch_ood import detector as d
    tensor = {name: torch.tensor(array) for name, array in data.items()}
    head = torch.nn.Linear(DIM, CLASSES)
    head.weight.data, head.bias.data = tensor["head_weight"], tensor["head_bias"]
    train, test, label = tensor["train"], tensor["test"], tensor["train_label"]
    logits = tensor["test_logits"]

    def fitted(made):
        made.fit_features(train, label)
        return made.predict_features(test)

    def shaped(made):
        maps = lambda x: x[:, :, None, None]
        if hasattr(made, "fit_feature_maps"):
            made.fit_feature_maps(maps(train), label)
        return made.predict_feature_maps(maps(test))

    flat = lambda maps: head(maps.flatten(1))
    identity = torch.nn.Identity()
    with torch.no_grad():
        return {
            "max_softmax": d.MaxSoftmax.score(logits),
            "max_logit": d.MaxLogit.score(logits),
            "energy": d.EnergyBased.score(logits),
            "entropy": d.Entropy.score(logits),
            "gen": d.GEN(None, gamma=0.1, M=100).predict_logits(logits),
            "klm": d.KLMatching(None).fit_logits(tensor["train_logits"], label).predict_logits(logits),
            "mahalanobis": fitted(d.Mahalanobis(None)),
            "relative_mahalanobis": fitted(d.RMD(None)),
            "vim { principal_dim: 32 }": fitted(d.ViM(None, d=32, w=head.weight, b=head.bias)),
            "knn { k: 50 }": fitted(d.KNN(None, k=50)),
            "she": fitted(d.SHE(identity, head)),
            "nci": fitted(d.NCI(identity, head, alpha=0.0001)),
            "fdbd": fitted(d.fDBD(identity, head)),
            "nnguide { k: 10 share: 1 }": fitted(d.NNGuide(identity, head, k=10)),
            "react { percentile: 90 }": shaped(d.ReAct(identity, flat, percentile=0.9)),
            "dice { percentile: 90 }": fitted(d.DICE(None, w=head.weight, b=head.bias, p=0.9)),
            "ash { variant: S percentile: 65 }": shaped(d.ASH(identity, flat, variant="ash-s", percentile=0.65)),
            "scale { percentile: 85 }": shaped(d.SCALE(identity, flat, percentile=0.85)),
            "vra { low_percentile: 1 high_percentile: 99 low: CLIP }": shaped(d.VRA(identity, flat)),
            "lts": d.LTS(None, head).predict_features(test),
            "pnml": fitted(d.PNML(None, head)),
            "gmm": fitted(d.GMM(None)),
            "mcm": d.MCM(None, head.weight).predict_features(test),
            "gradient_uncertainty": d.GradUncertainty(head)._predict_sequential(test),
            WEIGHTED_ENERGY: d.WeightedEBO.score(logits, torch.tensor(WEIGHTS)),
            "gradnorm": d.GradNorm(head, lambda name: name == "weight")._predict_sequential(test),
        }


def torch_uncertainty(data):
    """Its criteria take [samples, estimators, classes]; importing the package whole needs Lightning."""
    import importlib.util
    found = importlib.util.find_spec("torch_uncertainty").submodule_search_locations[0]
    for name in ("torch_uncertainty", "torch_uncertainty.metrics", "torch_uncertainty.metrics.classification"):
        sys.modules.setdefault(name, ModuleType(name))
    for name in ("MutualInformation", "VariationRatio"):
        for module in ("torch_uncertainty.metrics", "torch_uncertainty.metrics.classification"):
            setattr(sys.modules[module], name, torch.nn.Identity)
    criteria = load(found, "ood_criteria", "torch_uncertainty")
    logits = torch.tensor(data["test_logits"])[:, None]
    return {
        "max_softmax": criteria.MaxSoftmaxCriterion()(logits[:, 0].softmax(-1)),
        "max_logit": criteria.MaxLogitCriterion()(logits),
        "energy": criteria.EnergyCriterion()(logits),
        "entropy": criteria.EntropyCriterion()(logits.softmax(-1)),
    }


def ssd(d):
    """One cluster: the Mahalanobis distance of standardised unit features (Sehwag et al. 2021)."""
    train, test = distance_golden.unit(d["train_features"]), distance_golden.unit(d["features"])
    mean, deviation = train.mean(0), train.std(0)
    train, test = (train - mean) / deviation, (test - mean) / deviation
    inverse = np.linalg.pinv(np.cov(train, rowvar=False, bias=True))
    return np.einsum("ij,jk,ik->i", test - train.mean(0), inverse, test - train.mean(0))


def combine(d):
    """Fisher's sum for energy and knn, fitted to every second sample of a class, with p-values among the others."""
    fit = np.zeros(TRAIN, bool)
    for label in range(CLASSES):
        fit[np.flatnonzero(d["train_label"] == label)[::2]] = True
    near = {**d, "train_features": d["train_features"][fit]}
    known = {**near, "features": d["train_features"][~fit]}
    scores = [(golden.energy(d["train_logits"][~fit]), golden.energy(d["logits"])),
              (golden.knn(known, 50), golden.knn(near, 50))]
    p = [((known > s[:, None]).sum(1) + (known == s[:, None]).sum(1) / 2 + 0.5) / (len(known) + 1) for known, s in scores]
    return [stats.combine_pvalues(of, "fisher").statistic for of in np.transpose(p)]


def formulas(data):
    d = {"weight": data["head_weight"], "bias": data["head_bias"], "train_features": data["train"],
         "features": data["test"], "train_logits": data["train_logits"], "logits": data["test_logits"]}
    d = {**{name: array.astype(float) for name, array in d.items()}, "train_label": data["train_label"]}
    golden.CLASSES, golden.FEATURES = CLASSES, DIM
    p = special.softmax(d["logits"], axis=1)
    positive = np.maximum(WEIGHTS, 0)
    return {
        "max_softmax": -p.max(1),
        "max_logit": -d["logits"].max(1),
        "energy": golden.energy(d["logits"]),
        "entropy": special.entr(p).sum(1),
        "gen": golden.gen(d, 0.1, 100),
        "klm": golden.klm(d),
        WEIGHTED_ENERGY: -special.logsumexp(d["logits"], axis=1, b=positive),
        "mahalanobis": golden.mahalanobis(d, False),
        "relative_mahalanobis": golden.mahalanobis(d, True),
        "mahalanobis_plus_plus": distance_golden.mahalanobis_plus_plus(d, False),
        "relative_mahalanobis_plus_plus": distance_golden.mahalanobis_plus_plus(d, True),
        "vim { principal_dim: 32 }": golden.vim(d, 32),
        "residual { principal_dim: 32 }": golden.residual(d, 32),
        "knn { k: 50 }": golden.knn(d, 50),
        "she": golden.she(d),
        "nci": golden.nci(d, 0.0001),
        "fdbd": golden.fdbd(d, True),
        "nnguide { k: 10 share: 1 }": golden.nnguide(d, 10),
        "relation": golden.relation(d, 1, 0.03),
        "gradnorm": golden.gradnorm(d),
        "react { percentile: 90 }": golden.react(d, np.percentile(d["train_features"], 90)),
        "dice { percentile: 90 }": golden.dice(d, 90),
        "ash { variant: S percentile: 65 }": golden.ash(d, "S", 65),
        "ash { variant: B percentile: 65 }": golden.ash(d, "B", 65),
        "scale { percentile: 85 }": golden.scale(d, 85),
        "openmax": golden.openmax(d, "eucos", 20, 10, None, 10000),
        "combood": distance_golden.combood(d, 50, 1.0),
        "postmax": distance_golden.postmax(d),
        "ghost": distance_golden.ghost(d, False),
        "nac { samples: 0 }": distance_golden.nac(d, 50, 50, 100),
        "ssd": ssd(d),
        COMBINE: combine(d),
    }


def grood(module, network, data):
    """With the mean of the class means for the unknown, and all training samples instead of an index of some."""
    made = module.GrOODPostprocessor.__new__(module.GrOODPostprocessor)
    made.device, made.pre_layer_indx = "cpu", -1
    for flag in ("distance_loss", "no_gradients", "use_direct_grad", "use_pseudo_prototype"):
        setattr(made, flag, False)
    made.network = lambda x, return_feature_list: (network(x), [x.flatten(1)])
    made._prototypes_tensors = made._init_prototypes(CLASSES, DIM, "cpu")
    made._pre_prototypes_tensors = torch.zeros(CLASSES, DIM)
    image = {name: torch.tensor(data[name], dtype=torch.float64)[:, :, None, None] for name in ("train", "test")}
    label = torch.tensor(data["train_label"])
    made.update_prototype((image["train"], label))
    noise = module.NoiseProtoCompute(None, None, None, None, (made.prototypes, made._count_features), None, "cpu", -1)
    noise.get_prototype_mean()
    made.noise_proto = noise.noise_proto.detach()
    # A few at a time, because it stores a gradient for each pair of a sample and a prototype.
    known = np.concatenate([made._compute_grad({"data": x, "label": y})["grads"]
                            for x, y in zip(image["train"].split(50), label.split(50))])
    gradients = np.concatenate([made._compute_grad(x, data_alone=True)["grads"] for x in image["test"].split(50)])
    return spatial.distance.cdist(gradients, known).min(1)


def openood(checkout, data):
    torch.set_default_dtype(torch.float64)
    torch.Tensor.cuda = lambda self, *_: self
    torch.nn.Module.cuda = lambda self, *_: self
    torch.Tensor.float = torch.Tensor.double
    sys.modules["faiss"] = Settings(IndexFlatIP=Index, IndexFlatL2=lambda dim: Index(dim, inner=False))
    for package in ("openood", "openood.postprocessors", "openood.networks", "openood.utils", "openood.preprocessors",
                    "openood.preprocessors.transform"):
        sys.modules[package] = ModuleType(package)
    sys.modules["openood.preprocessors.transform"].normalization_dict = {}
    np.float32 = np.float64  # of mds and rmds
    sys.modules["openood.utils.comm"] = sys.modules["openood.utils"].comm = Settings(is_main_process=lambda: True)
    sys.modules["openood.postprocessors.info"] = Settings(num_classes_dict={"made_up": CLASSES})
    folder = os.path.join(checkout, "openood")
    load(os.path.join(folder, "postprocessors"), "base_postprocessor", "openood.postprocessors")
    network = Network(data["head_weight"].astype(float), data["head_bias"].astype(float))
    image = {name: torch.tensor(data[name], dtype=torch.float64)[:, :, None, None] for name in ("train", "test")}
    batch = {"data": image["train"], "label": torch.tensor(data["train_label"])}
    loaders = {split: Loader([batch]) for split in ("train", "val", "test")}
    networks = {name: load(os.path.join(folder, "networks"), name, "openood.networks")
                for name in ("scale_net", "ash_net", "react_net")}

    def score(name, class_name, net=None, **settings):
        module = load(os.path.join(folder, "postprocessors"), name + "_postprocessor", "openood.postprocessors")
        own = Settings(postprocessor_args=Settings(**settings), postprocessor_sweep=Settings())
        made = getattr(module, class_name)(Settings(postprocessor=own, dataset=Settings(name="made_up")))
        made.setup(net or network, loaders, None)
        return -np.asarray(made.postprocess(net or network, image["test"].clone())[1].detach(), dtype=float)

    base = sys.modules["openood.postprocessors.base_postprocessor"].BasePostprocessor(None)
    return {
        "max_softmax": -base.postprocess(network, image["test"])[1].numpy(),
        "energy": score("ebo", "EBOPostprocessor", temperature=1),
        "mahalanobis": score("mds", "MDSPostprocessor"),
        "relative_mahalanobis": score("rmds", "RMDSPostprocessor"),
        "residual { principal_dim: 32 }": score("residual", "ResidualPostprocessor", dim=32),
        "relation": score("relation", "RelationPostprocessor", pow=1),
        "gradnorm": score("gradnorm", "GradNormPostprocessor"),
        "ash { variant: B percentile: 65 }": score("ash", "ASHPostprocessor", networks["ash_net"].ASHNet(network),
                                                   percentile=65),
        OVERALL_VRA: score("vra", "VRAPostprocessor", percentile_low=10, percentile_high=90),
        "grood": grood(load(os.path.join(folder, "postprocessors"), "grood", "openood.postprocessors"), network, data),
        "max_logit": score("maxlogit", "MaxLogitPostprocessor"),
        "gen": score("gen", "GENPostprocessor", gamma=0.1, M=100),
        "klm": score("kl_matching", "KLMatchingPostprocessor"),
        "vim { principal_dim: 32 }": score("vim", "VIMPostprocessor", dim=32),
        "knn { k: 50 }": score("knn", "KNNPostprocessor", K=50),
        "she": score("she", "SHEPostprocessor", metric="inner_product"),
        "nci": score("nci", "NCIPostprocessor", alpha=0.0001),
        "fdbd": score("fdbd", "fDBDPostprocessor", distance_as_normalizer=True),
        "nnguide { k: 10 share: 1 }": score("nnguide", "NNGuidePostprocessor", K=10, alpha=1),
        "react { percentile: 90 }": score("react", "ReactPostprocessor", networks["react_net"].ReactNet(network),
                                          percentile=90),
        "dice { percentile: 90 }": score("dice", "DICEPostprocessor", p=90),
        "scale { percentile: 85 }": score("scale", "ScalePostprocessor", networks["scale_net"].ScaleNet(network),
                                          percentile=85),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openset", required=True)
    parser.add_argument("--openood")
    arguments = parser.parse_args()
    data = made_up()
    peers = {"pytorch-ood": pytorch_ood(data), "torch-uncertainty": torch_uncertainty(data), "in NumPy": formulas(data)}
    if arguments.openood:
        peers["OpenOOD"] = openood(arguments.openood, data)
    rows = list(dict.fromkeys(score for theirs in peers.values() for score in theirs))
    print("| score | openset | " + " | ".join(peers) + " |\n| --- |" + " --- |" * (1 + len(peers)))
    with tempfile.TemporaryDirectory() as folder:
        for score in rows:
            value = ours(arguments.openset, data, folder, score)
            cells = [f"{100 * value:.4f}"]
            for theirs in peers.values():
                if score not in theirs:
                    cells.append("")
                    continue
                other = auroc(data["label"], np.asarray(theirs[score]))
                cells.append(f"{100 * other:.4f}" + (f" ({100 * (other - value):+.4f})" if abs(other - value) > 1e-4 else ""))
            print(f"| `{SHORT.get(score, score)}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
