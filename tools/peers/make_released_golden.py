"""Writes eval/testdata/released_scores.json: scores that the released code of others gives the arrays of
eval/testdata/distance_scores.json, and combined scores by SciPy.

    python3 tools/peers/make_released_golden.py SOURCES eval/testdata/distance_scores.json eval/testdata/released_scores.json

SOURCES is a folder of checkouts by the names below, whose files are run as they are, in double precision and on the CPU
(packages that they import and this does not need are stubs). Larger = more unknown: the negative of what some give. The
stored file was made with PyTorch 2.11.0, NumPy 2.4.6, SciPy 1.17.1, scikit-learn
1.9.1 and pytorch-ood 0.4.0 on x86-64, and

    OpenOOD             Jingkang50/OpenOOD 3c35632
    VRA                 zeroQiaoba/VRA 4dad931
    lts                 andrijazz/lts 9509d96
    SSD                 inspire-group/SSD cf2e162
    pnml_ood_detection  kobybibas/pnml_ood_detection 8fae91b
    gram-ood-detection  VectorInstitute/gram-ood-detection e15126c
    cac-openset         dimitymiller/cac-openset bd9c7f5
    GHOST               Vastlab/GHOST 2e9466a
    ood_coverage        BierOne/ood_coverage b002780
    libsvm-openset      ljain2/libsvm-openset 122298c, with its programs svm-train and svm-predict built
    combood             rmagesh148/combood 7457e1f
    maha-norm           mueller-mp/maha-norm 53de550
    unknown-detection-benchmarks    daintlab/unknown-detection-benchmarks eff1710

and the package libmr 0.1.9.
"""

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from types import ModuleType, SimpleNamespace as Settings

import numpy as np
import torch
from make_openood_golden import Index, Loader, Network, load
from scipy import spatial, stats

STUBS = {"PIL", "data", "datasets", "matplotlib", "model_utils", "models", "ood_metrics", "pytorch_lightning",
         "torchvision", "tqdm"}


class Stub(ModuleType):
    """Whatever is asked of it."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return sys.modules.get(f"{self.__name__}.{name}") or type(name, (), {})


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name.split(".")[0] in STUBS else None

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


def energy(logits):
    return -torch.logsumexp(torch.as_tensor(logits).detach(), dim=1).numpy()


def openood(sources, d, network):
    """VRA and GROOD."""
    for package in ("openood", "openood.postprocessors", "openood.preprocessors", "openood.preprocessors.transform",
                    "openood.utils", "openood.utils.comm"):
        sys.modules[package] = Stub(package)
    folder = os.path.join(sources, "OpenOOD", "openood", "postprocessors")
    load(folder, "base_postprocessor", "openood.postprocessors")
    image = {name: d[name][:, :, None, None] for name in ("train_features", "features")}
    batch = {"data": image["train_features"], "label": d["train_label"]}
    vra = load(folder, "vra_postprocessor", "openood.postprocessors")
    vra.tqdm = lambda batches, **_: batches
    own = Settings(postprocessor_args=Settings(percentile_high=90, percentile_low=10), postprocessor_sweep=None)
    vra = vra.VRAPostprocessor(Settings(postprocessor=own))
    vra.setup(network, {"val": Loader([batch])}, None)

    grood = load(folder, "grood", "openood.postprocessors")
    made = grood.GrOODPostprocessor.__new__(grood.GrOODPostprocessor)
    made.device, made.pre_layer_indx = "cpu", -1
    for flag in ("distance_loss", "no_gradients", "use_direct_grad", "use_pseudo_prototype"):
        setattr(made, flag, False)
    made.network = lambda x, return_feature_list: (network(x), [x.flatten(1)])
    classes, dim = d["weight"].shape
    made._prototypes_tensors = made._init_prototypes(classes, dim, "cpu")
    made._pre_prototypes_tensors = torch.zeros(classes, dim)
    made.update_prototype((image["train_features"], d["train_label"].long()))
    noise = grood.NoiseProtoCompute(None, None, None, None, (made.prototypes, made._count_features), None, "cpu", -1)
    noise.get_prototype_mean()
    made.noise_proto = noise.noise_proto.detach()
    known = made._compute_grad(batch)["grads"]
    gradients = made._compute_grad(image["features"], data_alone=True)["grads"]
    # The index, which in the released code looks through a part of them.
    nearest = spatial.distance.cdist(gradients, known, "sqeuclidean").min(1)
    return {"vra_openood": -vra.postprocess(network, image["features"])[1], "grood": nearest}


class OneBatch:
    """A loader whose iterator has a length, as PyTorch's has."""

    def __init__(self, batch):
        self.batch = batch

    def __iter__(self):
        return self

    def __len__(self):
        return 1

    def __next__(self):
        return self.batch


def openmax(sources, d, network):
    """OpenOOD's postprocessor, its functions with the paper's distance, and the functions of the unified benchmark with the
    settings of its CIFAR networks. The Weibull distributions are libMR's."""
    folder = os.path.join(sources, "OpenOOD", "openood", "postprocessors")
    classes = d["weight"].shape[0]
    sys.modules["openood.postprocessors.info"] = Settings(num_classes_dict={"here": classes})
    module = load(folder, "openmax_postprocessor", "openood.postprocessors")
    module.tqdm = lambda batches, **_: batches
    released = module.OpenMax(Settings(dataset=Settings(name="here")))
    train = OneBatch({"data": d["train_features"], "label": d["train_label"].long()})
    released.setup(network, {"train": train}, None)
    scores, means, _ = module.compute_train_score_and_mavs_and_dists(classes, train, "cpu", network)
    expected = {"openmax": -released.postprocess(network, d["features"])[1]}
    for name, distance, weight, tail, alpha in (("openmax_eucos", "eucos", 0.005, 20, 4),
                                                ("openmax_cosine", "cosine", 0.005, 10, 2)):
        distances = [module.compute_channel_distances(mean, rows, weight) for mean, rows in zip(means, scores)]
        fitted = module.fit_weibull(means, distances, range(classes), tail, distance)
        expected[name] = [
            module.openmax(fitted, range(classes), row[None], weight, alpha, distance)[0][-1]
            for row in network(d["features"]).detach().numpy()
        ]
    code = load(os.path.join(sources, "unknown-detection-benchmarks", "methods", "openmax"), "openmax", "benchmark_code")
    distances = [code.compute_channel_distances(mean, rows, 0.005) for mean, rows in zip(means, scores)]
    fitted = code.fit_weibull(means, distances, range(classes), 2)
    probabilities = np.array([code.openmax(fitted, range(classes), row[None], 0.005, "cifar", 1)[0]
                              for row in network(d["features"]).detach().numpy()])
    return {**expected, "openmax_unified_benchmark": probabilities[:, -1],
            "openmax_unified_benchmark_prediction": probabilities.argmax(1)}


def ash(sources, d, network):
    """The energy of OpenOOD's shaped features; the authors' functions have the same text."""
    module = load(os.path.join(sources, "OpenOOD", "openood", "networks"), "ash_net", "ash_code")
    shaped = {"ash_s": (module.ash_s, 90), "ash_s_65": (module.ash_s, 65), "ash_p": (module.ash_p, 60),
              "ash_b_65": (module.ash_b, 65)}
    return {name: energy(network(of(d["features"][:, :, None, None].clone(), percentile)))
            for name, (of, percentile) in shaped.items()}


def mahalanobis_plus_plus(sources, d):
    """The functions of its NINCO, which keep what they fit in a folder, over as many classes as there are."""
    module = load(os.path.join(sources, "maha-norm", "NINCO"), "detection_methods", "maha_code")
    classes = d["weight"].shape[0]
    module.tqdm = lambda rows: range(classes) if isinstance(rows, range) else rows
    train, label, test = (d[name].numpy() for name in ("train_features", "train_label", "features"))
    expected = {}
    for name, of in (("mahalanobis_plus_plus", module.evaluate_Mahalanobis_norm),
                     ("relative_mahalanobis_plus_plus", module.evaluate_Relative_Mahalanobis_norm)):
        with tempfile.TemporaryDirectory() as folder:
            expected[name] = -of(train, test[:1], test, label, folder)[1]
    return expected


class Doubles:
    """NumPy, with doubles in place of floats."""
    float32 = float

    def __getattr__(self, name):
        return getattr(np, name)


def distances(sources, d, network, widths):
    """OpenOOD's distances, and the distances of the features seen as two layers' values. Its KNN has
    squared distances, and its ensemble half of them."""
    folder = os.path.join(sources, "OpenOOD", "openood", "postprocessors")
    classes = d["weight"].shape[0]
    sys.modules["openood.postprocessors.info"] = Settings(num_classes_dict={"here": classes})
    image = {name: d[name][:, :, None, None] for name in ("train_features", "features")}
    batch = {"data": image["train_features"], "data_aux": image["train_features"], "label": d["train_label"].long()}

    class Layers(torch.nn.Module):
        def forward(self, x, return_feature_list=False):
            return network(x), list(x.split(widths, dim=1))

    def score(name, class_name, net, **settings):
        module = load(folder, name + "_postprocessor", "openood.postprocessors")
        module.tqdm, module.np = lambda batches, **_: batches, Doubles()
        own = Settings(postprocessor_args=Settings(**settings), postprocessor_sweep=None)
        made = getattr(module, class_name)(Settings(postprocessor=own, dataset=Settings(name="here")))
        made.args = own.postprocessor_args
        made.setup(net, {"train": [batch], "val": None}, {"val": None})
        return -made.postprocess(net, image["features"].clone())[1]

    torch.cuda.FloatTensor = torch.tensor
    layers = {"noise": 0, "feature_type_list": ["mean"] * 2, "reduce_dim_list": ["none"] * 2}
    return {
        "mahalanobis": score("mds", "MDSPostprocessor", network),
        "relative_mahalanobis": score("rmds", "RMDSPostprocessor", network),
        "she": score("she", "SHEPostprocessor", network, metric="inner_product"),
        "knn_1": score("knn", "KNNPostprocessor", network, K=1).sqrt(),
        "knn_50": score("knn", "KNNPostprocessor", network, K=50).sqrt(),
        "mahalanobis_ensemble": 2 * score("mds_ensemble", "MDSEnsemblePostprocessor", Layers(), alpha_list=[1., 1.], **layers),
        "mahalanobis_ensemble_weighted":
            2 * score("mds_ensemble", "MDSEnsemblePostprocessor", Layers(), alpha_list=[0.25, 3.], **layers),
    }


def combood(sources, d):
    """Both parts of features, combined as its "log square" by the function of its driver."""
    sys.modules["utils"] = Stub("utils")
    module = load(os.path.join(sources, "combood"), "confidenciator", "combood_code")
    module.np = Doubles()
    module.FeatureExtractor = lambda *_: Settings(predict_knn=lambda rows: (None, module.normalizer(rows)))
    with open(os.path.join(sources, "combood", "test_ood.py")) as file:
        function = [node for node in ast.parse(file.read()).body
                    if isinstance(node, ast.FunctionDef) and node.name == "square_log_probability"]
    space = {"np": np, "math": math}
    exec(compile(ast.Module(function, []), "test_ood.py", "exec"), space)
    train, test = (d[name].numpy() for name in ("train_features", "features"))
    found = {}
    for name, k, ridge in (("combood", 50, 1), ("combood_5", 5, 0.1)):
        of = module.Confidenciator(None, None, train, mahala_xood=False, knn_pen=True, reg=ridge)
        of.K = k
        of.fit_knn_faiss(of.add_prediction_and_features_knn(train))
        rows = of.add_prediction_and_features_knn(test)
        found[name] = -space["square_log_probability"](of.predict_mahala(rows), of.predict_knn_faiss(rows), of.knn_n)
    return found


def authors(sources, d, network):
    """VRA, LTS, SSD, pNML."""
    resnet = load(os.path.join(sources, "VRA", "models"), "resnet", "vra_models")

    def vra(shift, low, high):
        own = Settings(features=lambda x: x, avgpool=lambda x: x, case="clip2", lamb=shift, fc=network.fc,
                       featmin=torch.quantile(d["train_features"], q=low, dim=0),
                       featmax=torch.quantile(d["train_features"], q=high, dim=0))
        return energy(resnet.ResNet.forward(own, d["features"]))

    lts = load(os.path.join(sources, "lts"), "lts", "lts_code")
    sys.modules["utils"] = load(os.path.join(sources, "SSD"), "utils", "ssd_code")
    ssd = load(os.path.join(sources, "SSD"), "eval_ssd", "ssd_code")
    ssd.get_fpr, ssd.get_roc_sklearn, ssd.get_pr_sklearn = (lambda test, _: test,) * 3

    def ssd_of(clusters):
        train, test = (d[name].numpy().copy() for name in ("train_features", "features"))
        chosen = Settings(clusters=clusters, training_mode="SupCE")
        with np.errstate(invalid="ignore"):
            return ssd.get_eval_results(train, test, test.copy(), d["train_label"].numpy(), chosen)[0]

    sys.modules["score_utils"] = load(os.path.join(sources, "pnml_ood_detection", "src"), "score_utils", "pnml")
    pnml = load(os.path.join(sources, "pnml_ood_detection", "src", "lit_utils"), "baseline_lit_utils", "pnml")
    unit = {name: torch.nn.functional.normalize(d[name], dim=1) for name in ("train_features", "features")}
    own = Settings(x_t_x_inv=torch.linalg.pinv(unit["train_features"].T @ unit["train_features"], rcond=1e-15))
    regret = pnml.LitBaseline.calc_regrets(own, unit["features"], network.fc(unit["features"]).softmax(1))
    return {
        "vra": vra(0, 0.6, 0.95),
        "vra_plus": vra(0.6, 0.6, 0.95),
        "lts_80": energy(d["logits"] * lts.lts(d["features"], 80)),
        "lts_65": energy(d["logits"] * lts.lts(d["features"], 65)),
        "ssd": ssd_of(1),
        "ssd_classes": ssd_of(2),
        "pnml": regret,
    }


def pytorch_ood(d, network):
    """VRA, LTS, pNML, WEBO, GMM, MCM, gradient uncertainty."""
    from pytorch_ood import detector
    maps = {name: d[name][:, :, None, None] for name in ("train_features", "features")}
    vra = detector.VRA(None, lambda x: network.fc(x.flatten(1)))
    vra.fit_feature_maps(maps["train_features"], d["train_label"])
    pnml = detector.PNML(None, network.fc).fit_features(d["train_features"], d["train_label"])
    weight = torch.linspace(-0.5, 2, d["weight"].shape[0])
    gradient = detector.GradUncertainty(network.fc)
    return {
        "vra_pytorch_ood": vra.predict_feature_maps(maps["features"]),
        "lts": detector.LTS(None, network.fc).predict_features(d["features"]),
        "pnml_pytorch_ood": pnml.predict_features(d["features"]),
        "weighted_energy": detector.WeightedEBO.score(d["logits"], weight),
        "gmm": detector.GMM(None, 1e-3).fit_features(d["train_features"], d["train_label"]).predict_features(d["features"]),
        "mcm": detector.MCM(None, d["weight"]).predict_features(d["features"]),
        "mcm_01": detector.MCM(None, d["weight"], 0.1).predict_features(d["features"]),
        "gradient_uncertainty": gradient._predict_sequential(d["features"]),
    }


def cells(path, *names):
    """The cells of a notebook that define one of the names, run in one namespace."""
    with open(path) as file:
        sources = ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    space = {"torch": torch, "np": np, "nn": torch.nn, "F": torch.nn.functional, "random": random, "tqdm": lambda x: x}
    for source in sources:
        lines = source.splitlines()
        defined = [i for i, line in enumerate(lines) if line.startswith(tuple(f"{kind} {name}" for name in names
                                                                              for kind in ("class", "def")))]
        if defined:
            # Up to the first line that does more than define, which would load a network.
            end = next((i for i in range(defined[0] + 1, len(lines)) if lines[i][:1].isalpha()
                        and not lines[i].startswith(("def", "class", "import"))), len(lines))
            exec("\n".join(line for line in lines[defined[0]:end] if not line.startswith("import")), space)
    return space


def gram(sources, d, widths):
    """The notebook's deviations of features that stand for the sums of Gram matrices, over every tenth training sample."""
    space = cells(os.path.join(sources, "gram-ood-detection", "ResNet_Cifar10.ipynb"), "ResNet(", "detect(", "Detector")
    space["G_p"] = lambda values, _: values
    model = space["ResNet"].__new__(space["ResNet"])
    torch.nn.Module.__init__(model)
    model.gram_feature_list = lambda rows: list(rows.split(widths, dim=1))
    space["torch_model"] = model
    held_out = np.arange(len(d["train_label"])) % 10 == 9
    train_probability, probability = d["train_logits"].softmax(1), d["logits"].softmax(1)
    detector = space["Detector"]()
    detector.classes = range(d["logits"].shape[1])
    # "Test" samples: the held-out ones, by which the deviations are divided, and those to score, sorted by class.
    rows = torch.cat([d["train_features"][held_out], d["features"]])
    p = torch.cat([train_probability[held_out], probability])
    space.update(train_preds=train_probability[~held_out].argmax(1).tolist(), data=[(row,) for row in rows],
                 test_preds=p.argmax(1).tolist(), test_confs=p.max(1).values.tolist())
    detector.compute_minmaxs([(row,) for row in d["train_features"][~held_out]], POWERS=[1])
    detector.classes = sorted(set(space["test_preds"]))  # it needs a sample of each
    detector.compute_test_deviations(POWERS=[1])
    order = np.argsort(np.array(space["test_preds"]), kind="stable")
    of = np.empty(len(rows), int)
    of[order] = np.arange(len(rows))
    found = []
    space["callog"] = Settings(compute_metric=lambda known, _: found.append(-known) or {})
    space["random"] = Settings(seed=lambda _: None, sample=lambda *_: of[:held_out.sum()].tolist())
    space["detect"](detector.all_test_deviations, detector.all_test_deviations[:1], verbose=False)
    left = sorted(of[held_out.sum():])
    return found[0][[left.index(i) for i in of[held_out.sum():]]]


def class_anchor(sources, d):
    """The centres and distances of cac-openset, of logits that are given."""
    sys.modules["networks"] = Stub("networks")
    utils = load(os.path.join(sources, "cac-openset"), "utils", "cac_code")
    network = load(os.path.join(sources, "cac-openset", "networks"), "openSetClassifier", "cac_code").openSetClassifier
    net = network.__new__(network)
    torch.nn.Module.__init__(net)
    classes = d["logits"].shape[1]
    net.num_classes, net.cuda = classes, lambda: net
    net.set_anchors(torch.zeros(classes, classes))
    net.forward = lambda logits: (logits, net.distance_classifier(logits))
    labels = d["train_label"].long().tolist()
    train, test = [(d["train_logits"], labels)], [(d["logits"], [0] * len(d["logits"]))]
    utils.dataHelper = Settings(get_anchor_loaders=lambda *_: (train, None))
    means = utils.find_anchor_means(net, list(range(classes)), "MNIST", 0, {"num_known_classes": classes}, only_correct=True)
    net.set_anchors(torch.tensor(np.array(means)))
    scores, _ = utils.gather_outputs(net, list(range(classes)), test, data_idx=1, calculate_scores=True)
    return np.min(np.array(scores), axis=1)


def ghost(sources, d):
    """Fitted to correctly classified samples, as its driver does."""
    module = load(os.path.join(sources, "GHOST"), "GHOST", "ghost_code")
    module.tqdm = lambda batches: batches
    # In this process: its pool can't import a module that was loaded from a path.
    pool = Settings(apply_async=lambda func, args: Settings(get=lambda: func(*args)), close=lambda: None, join=lambda: None)
    module.mp = Settings(Pool=lambda processes: pool)
    right = d["train_logits"].argmax(1) == d["train_label"]
    of = module.GHOST(d["train_logits"][right], d["train_features"][right])
    predicted = d["logits"].argmax(1, keepdim=True)
    return {
        "ghost": -of.norm(d["logits"], d["features"]).gather(1, predicted)[:, 0],
        "ghost_probability": -of.ReScore(d["logits"], d["features"]),
    }


def nac(sources, d, network, widths):
    """Its coverage of the features' states, with the defaults of nac and with others, and the coverage of two layers,
    whose values the features are."""
    sys.modules["nac"] = ModuleType("nac")
    sys.modules["nac"].__path__ = [os.path.join(sources, "ood_coverage", "openood", "postprocessors", "nac")]
    coverage, utils = importlib.import_module("nac.coverage"), importlib.import_module("nac.utils")
    torch.nn.Module.cuda = lambda self, *_: self
    found = {}
    for name, hyper in (("nac", {"O": 50, "M": 50, "sig_alpha": 100}), ("nac_5", {"O": 5, "M": 20, "sig_alpha": 1})):
        hyper["method"] = "sigmoid(o*g_kl)"
        of = coverage.KMNC({"avgpool": d["features"].shape[1]}, "cpu", {"avgpool": hyper})

        def states(features):
            state = features.clone().requires_grad_(True)
            gradient = coverage.kl_grad(state, network.fc(state))
            return {"avgpool": utils.get_state_func(**hyper)(state, None, gradient).detach()}

        of.step(states(d["train_features"]))
        of.update()
        found[name] = -of.single_ood_test(states(d["features"]), len(d["features"]))
    hyper = {"layer3": {"O": 5, "M": 52, "sig_alpha": 2}, "avgpool": {"O": 20, "M": 20, "sig_alpha": 0.5}}
    for name, layers in (("nac_last_stage", ["avgpool"]), ("nac_stages", ["layer3", "avgpool"])):
        own = {layer: dict(hyper[layer], method="sigmoid(o*g_kl)") for layer in layers}
        of = coverage.KMNC({layer: dict(zip(hyper, widths))[layer] for layer in layers}, "cpu", own)

        def states(features):
            values = dict(zip(hyper, features.split(widths, dim=1)))
            return {layer: utils.get_state_func(**own[layer])(values[layer], None, None) for layer in layers}

        of.step(states(d["train_features"]))
        of.update()
        found[name] = -of.single_ood_test(states(d["features"]), len(d["features"]))
    return found


def one_vs_set(sources, d):
    """The scores that svm-predict prints, with six digits, of machines that svm-train made to a small tolerance."""
    found = {}
    with tempfile.TemporaryDirectory() as made:
        def lines(name, rows, labels):
            with open(os.path.join(made, name), "w") as file:
                for row, label in zip(rows.tolist(), labels):
                    values = " ".join(f"{i + 1}:{value!r}" for i, value in enumerate(row))
                    file.write(f"{int(label) + 1} {values}\n")

        lines("train", d["train_features"], d["train_label"].tolist())
        lines("test", d["features"], [0] * len(d["features"]))
        for name, options in (("one_vs_set", []), ("one_vs_set_pressed", ["-c", "0.1", "-G", "0.5", "0.25"])):
            for command in (["svm-train", "-s", "7", "-t", "0", "-e", "1e-10", *options, "train", "model"],
                            ["svm-predict", "-o", "-s", "test", "model", "out"]):
                program = os.path.abspath(os.path.join(sources, "libsvm-openset", command[0]))
                subprocess.run([program, *command[1:]], cwd=made, check=True, capture_output=True)
            with open(os.path.join(made, "out")) as file:
                rows = [[float(word.split(":")[1]) for word in line.split() if ":" in word] for line in file]
            found[name] = -np.array(rows).max(axis=1)
    return found


def combined(d):
    """Energy and the distance to the 5th neighbour, fitted to every second sample of a class."""
    fit = np.zeros(len(d["train_label"]), bool)
    for label in np.unique(d["train_label"]):
        fit[np.flatnonzero(d["train_label"] == label)[::2]] = True
    unit = {name: d[name].numpy() / np.linalg.norm(d[name], axis=1, keepdims=True) for name in
            ("train_features", "features")}

    def fifth(rows):
        return np.sort(spatial.distance.cdist(rows, unit["train_features"][fit]), axis=1)[:, 4]

    parts = [(energy(d["train_logits"])[~fit], energy(d["logits"])),
             (fifth(unit["train_features"][~fit]), fifth(unit["features"]))]
    p = np.array([[((known > s).sum() + (known == s).sum() / 2 + 0.5) / (len(known) + 1) for s in scores]
                  for known, scores in parts])
    return {
        "combine_ranks": 1 - p.mean(0),
        "combine_fisher": [stats.combine_pvalues(of, "fisher").statistic for of in p.T],
        "combine_stouffer": [stats.combine_pvalues(of, "stouffer").statistic for of in p.T],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sources", "arrays", "golden"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.Tensor.cuda = lambda self, *_: self
    torch.Tensor.float = torch.Tensor.double
    torch.cuda.is_available = lambda: False
    sys.meta_path.append(Stubs())
    sys.modules["faiss"] = Settings(IndexFlatIP=Index, IndexFlatL2=lambda dim: Index(dim, inner=False))
    golden = {"about": "Made by tools/peers/make_released_golden.py. Larger = more unknown."}
    for name in ("random", "digits"):
        with open(arguments.arrays) as file:
            case = json.load(file)[name]
        classes, dim = case["num_classes"], case["feature_dim"]
        width_of = {"weight": dim, "bias": 0, "train_label": 0, "train_features": dim, "features": dim,
                    "train_logits": classes, "logits": classes}
        arrays = {key: np.array(case[key]).reshape(-1, width) if width else np.array(case[key])
                  for key, width in width_of.items()}
        d = {key: torch.tensor(array) for key, array in arrays.items()}
        network = Network(arrays["weight"], arrays["bias"])
        widths = [3, dim - 3]
        expected = {**openood(arguments.sources, d, network), **authors(arguments.sources, d, network),
                    **pytorch_ood(d, network), **combined(d), "gram": gram(arguments.sources, d, widths),
                    "class_anchor": class_anchor(arguments.sources, d), **one_vs_set(arguments.sources, d),
                    **ghost(arguments.sources, d), **nac(arguments.sources, d, network, widths),
                    **distances(arguments.sources, d, network, widths), **combood(arguments.sources, d),
                    **openmax(arguments.sources, d, network), **ash(arguments.sources, d, network),
                    **mahalanobis_plus_plus(arguments.sources, d)}
        golden[name] = {
            "num_classes": classes,
            "feature_dim": dim,
            "stage_widths": widths,
            **{key: case[key] for key in width_of},
            "expected": {key: torch.as_tensor(np.asarray(torch.as_tensor(values).detach())).tolist() for key, values in
                         expected.items()},
        }
    # One array a line.
    text = json.dumps(golden, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]")
    with open(arguments.golden, "w") as file:
        file.write(text.replace(', "', ',\n"') + "\n")


if __name__ == "__main__":
    main()
