"""The functions and postprocessors of a checkout: OPENOOD=.../OpenOOD. Its knn needs the package faiss-cpu."""
import importlib.util
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace as Settings

import torch

ROOT = os.environ["OPENOOD"]
NAME = "OpenOOD"
TOLERANCE = 2e-4  # single precision
VERSION = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h"], capture_output=True,
                         text=True).stdout.strip()


def source(path, package):
    spec = importlib.util.spec_from_file_location(f"{package}.{os.path.basename(path)[:-3]}",
                                                  os.path.join(ROOT, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


METRICS = source("openood/evaluators/metrics.py", "evaluators")


def metrics(d):
    fpr, auroc, known, unknown, accuracy = METRICS.compute_all_metrics(-d["unknown_score"].astype(float), d["label"],
                                                                       d["prediction"])
    return {
        "fpr95_unknown_positive": fpr,
        "auroc": auroc,
        "aupr_known": known,
        "aupr_unknown": unknown,
        "accuracy": accuracy,
        "ccr_at_10fpr": METRICS.ccr_fpr(-d["unknown_score"].astype(float), 0.1, d["prediction"], d["label"])
    }


class Network(torch.nn.Module):
    """A linear head on its image, which are the features."""

    def __init__(self, weight, bias):
        super().__init__()
        self.fc = torch.nn.Linear(*weight.shape[::-1])
        self.fc.weight.data, self.fc.bias.data = weight, bias

    def forward(self, x, return_feature=False):
        return (self.fc(x), x.clone()) if return_feature else self.fc(x)  # ASH changes it in place

    def forward_threshold(self, x, threshold):
        return self.fc(x.clip(max=threshold))

    backbone = property(lambda self: self)

    def get_fc_layer(self):
        return self.fc

    def get_fc(self):
        return self.fc.weight.detach().numpy(), self.fc.bias.detach().numpy()


class Loader(list):
    batch_size = property(lambda self: len(self[0]["label"]))
    dataset = property(lambda self: self[0]["label"])


WRAPPED = {"ash_postprocessor": ("ash_net", "ASHNet"), "scale_postprocessor": ("scale_net", "ScaleNet")}


def postprocessor(name, kind, arguments, d):
    module = source(f"openood/postprocessors/{name}.py", "openood.postprocessors")
    settings = Settings(postprocessor=Settings(postprocessor_args=Settings(**arguments),
                                               postprocessor_sweep=None,
                                               APS_mode=False),
                        dataset=Settings(name="suite", num_classes=4))
    of = getattr(module, kind)(settings)
    network = Network(d["head_weight"], d["head_bias"])
    if name in WRAPPED:
        path, wrapper = WRAPPED[name]
        network = getattr(source(f"openood/networks/{path}.py", "openood.networks"), wrapper)(network)
    batch = {"data": d["train_features"], "label": d["train_label"]}
    if hasattr(module, "tqdm"):
        module.tqdm = lambda batches, **_: batches
    of.setup(network, {name: Loader([batch]) for name in ("main_train", "train", "val", "test")}, None)
    return of, lambda: -of.postprocess(network, d["features"])[1]


def searched(words, d, value):
    """After the search of the settings before."""
    of, score = postprocessor(*words, d)
    score()
    of.set_hyperparam([value])
    return score()


def scores(d):
    if "num_classes" in d:  # no score of an output for the unknown
        return {}
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *_: self
    for package in ("openood", "openood.postprocessors", "openood.utils", "openood.utils.comm"):
        sys.modules.setdefault(package, ModuleType(package)).__path__ = []
    sys.modules["openood.postprocessors.info"] = ModuleType("info")
    sys.modules["openood.postprocessors.info"].num_classes_dict = {"suite": 4}
    sys.modules["openood.utils"].comm = sys.modules["openood.utils.comm"]
    sys.modules["openood.utils.comm"].is_main_process = lambda: False
    base = source("openood/postprocessors/base_postprocessor.py", "openood.postprocessors")
    sys.modules["openood.postprocessors"].BasePostprocessor = base.BasePostprocessor
    t = {
        key: torch.tensor(array).float() if "label" not in key else torch.tensor(array).long()
        for key, array in d.items()
    }
    wanted = {
        "max_softmax": ("base_postprocessor", "BasePostprocessor", {}),
        "max_logit": ("maxlogit_postprocessor", "MaxLogitPostprocessor", {}),
        "energy": ("ebo_postprocessor", "EBOPostprocessor", {
            "temperature": 1
        }),
        "energy_t2": ("ebo_postprocessor", "EBOPostprocessor", {
            "temperature": 2
        }),
        "gen_01": ("gen_postprocessor", "GENPostprocessor", {
            "gamma": 0.1,
            "M": 4
        }),
        "gen_05_top2": ("gen_postprocessor", "GENPostprocessor", {
            "gamma": 0.5,
            "M": 2
        }),
        "vim_2": ("vim_postprocessor", "VIMPostprocessor", {
            "dim": 2
        }),
        "vim_5": ("vim_postprocessor", "VIMPostprocessor", {
            "dim": 5
        }),
        "react_90": ("react_postprocessor", "ReactPostprocessor", {
            "percentile": 90
        }),
        "react_60": ("react_postprocessor", "ReactPostprocessor", {
            "percentile": 60
        }),
        "dice_90": ("dice_postprocessor", "DICEPostprocessor", {
            "p": 90
        }),
        "dice_50": ("dice_postprocessor", "DICEPostprocessor", {
            "p": 50
        }),
        "fdbd": ("fdbd_postprocessor", "fDBDPostprocessor", {
            "distance_as_normalizer": True
        }),
        "she": ("she_postprocessor", "SHEPostprocessor", {
            "metric": "inner_product"
        }),
        "knn_1": ("knn_postprocessor", "KNNPostprocessor", {
            "K": 1
        }),
        "knn_10": ("knn_postprocessor", "KNNPostprocessor", {
            "K": 10
        }),
        "residual_2": ("residual_postprocessor", "ResidualPostprocessor", {
            "dim": 2
        }),
        **{f"ash_b_{p}": ("ash_postprocessor", "ASHPostprocessor", {"percentile": p}) for p in (90, 65)},
        **{f"scale_{p}": ("scale_postprocessor", "ScalePostprocessor", {"percentile": p}) for p in (85, 65)},
        **{f"nnguide_{k}": ("nnguide_postprocessor", "NNGuidePostprocessor", {"K": k, "alpha": 1}) for k in (1, 10)},
        **{f"relation_{p}": ("relation_postprocessor", "RelationPostprocessor", {"pow": p}) for p in (1, 4)},
        **{f"nci_{a}".replace(".", ""): ("nci_postprocessor", "NCIPostprocessor", {"alpha": float(a)})
           for a in ("0.0001", "0.1")},
        "gradnorm": ("gradnorm_postprocessor", "GradNormPostprocessor", {}),
        "kl_matching": ("kl_matching_postprocessor", "KLMatchingPostprocessor", {}),
        "mahalanobis": ("mds_postprocessor", "MDSPostprocessor", {}),
        "relative_mahalanobis": ("rmds_postprocessor", "RMDSPostprocessor", {}),
    }
    found = {name: lambda words=words: postprocessor(*words, t)[1]() for name, words in wanted.items()}
    for first, other, value in (("vim_2", "vim_5", 5), ("react_90", "react_60", 60), ("dice_90", "dice_50", 50)):
        found[first + "_search"] = found[first]
        found[other + "_search"] = lambda words=wanted[first], value=value: searched(words, t, value)
    return found
