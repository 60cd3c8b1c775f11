"""Writes eval/testdata/conventions.json: what other libraries and released code print for the same arrays.

    python3 tools/peers/make_conventions_golden.py SOURCES eval/testdata/conventions.json

SOURCES is a folder of checkouts whose functions are run as they are. The stored file was made on x86-64 with PyTorch
2.11.0, NumPy 2.4.6, scikit-learn 1.9.1, torchmetrics 1.9.0, pytorch-ood 0.4.0, torch-uncertainty 0.13.0 and

    OpenOOD           Jingkang50/OpenOOD 3c35632
    outlier-exposure  hendrycks/outlier-exposure e6ede98
    ARPL              iCGY96/ARPL 3ede8b3
    fd-shifts         IML-DKFZ/fd-shifts c4467ae
    OpenAUC           wang22ti/OpenAUC 9ac5ceb
    odin              facebookresearch/odin 64e9796
    unknown-detection-benchmarks  daintlab/unknown-detection-benchmarks eff1710

The unknown score is 1 - the largest probability, so that what computes a confidence itself has the same one. In the
second case it is rounded, and what depends on the order of ties or computes its own confidence is left out. ODIN's
functions, with a fixed grid of thresholds, are run on the first case. Not of a table: OpenOOD's ccr_fpr().
"""

import functools
import json
import os
import sys
from types import SimpleNamespace as Settings

import numpy as np
import torch
from make_openood_golden import load
from sklearn import metrics


def arrays(seed, known, unknown, decimals):
    random = np.random.default_rng(seed)
    classes = 4
    label = np.concatenate([random.integers(0, classes, known), np.full(unknown, -1)])
    logits = random.normal(0, 1, (known + unknown, classes))
    logits[np.arange(known), label[:known]] += 1.2
    logits = np.float32(np.round(logits, 3)).astype(float)
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    score = 1 - p.max(1)
    return {
        "label": label,
        "logits": logits,
        "p": p,
        "prediction": logits.argmax(1),
        "unknown_score": score if decimals is None else np.round(score, decimals)
    }


@functools.lru_cache
def runner(sources, name):
    """The runner of the conformance suite, which finds the functions."""
    os.environ.update(OPENOOD=os.path.join(sources, "OpenOOD"), FD_SHIFTS=os.path.join(sources, "fd-shifts"))
    runners = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "conformance", "runners")
    return load(runners, name, "runners")


def openood(sources, d):
    names = ("FPR@95", "AUROC", "AUPR_IN", "AUPR_OUT", "ACC")
    found = runner(sources, "openood").METRICS
    printed = dict(zip(names, found.compute_all_metrics(-d["unknown_score"], d["label"], d["prediction"])))
    for level in (0.01, 0.1, 0.5):
        printed[f"ccr_fpr {level}"] = found.ccr_fpr(-d["unknown_score"], level, d["prediction"], d["label"])
    return printed


def pytorch_ood(_, d):
    from pytorch_ood.metrics import OODMetrics
    metrics = OODMetrics()
    metrics.update(torch.tensor(d["unknown_score"]), torch.tensor(d["label"]))
    return {name: float(value) for name, value in metrics.compute().items() if name != "AUTC"}


def oe(sources, d):
    display = load(os.path.join(sources, "outlier-exposure", "utils"), "display_results", "oe_code")
    known = d["label"] >= 0
    auroc, aupr, fpr = display.get_measures(d["unknown_score"][~known], d["unknown_score"][known])
    return {"AUROC": auroc, "AUPR": aupr, "FPR95": fpr}


def arpl(sources, d):
    np.trapz = np.trapezoid
    evaluation = load(os.path.join(sources, "ARPL", "core"), "evaluation", "arpl_code")
    known = d["label"] >= 0
    found = evaluation.metric_ood(-d["unknown_score"][known], -d["unknown_score"][~known], verbose=False)["Bas"]
    # A row of predictions has the confidence at the predicted class.
    rows = np.full(d["logits"].shape, -2.0)
    rows[np.arange(len(rows)), d["prediction"]] = -d["unknown_score"]
    printed = {name: found[name] / 100 for name in ("TNR", "AUROC", "DTACC")}
    if len(set(d["unknown_score"])) == len(rows):  # else, its order of ties is that of an unstable sort
        printed["OSCR"] = evaluation.compute_oscr(rows[known], rows[~known], d["label"][known])
    return {**printed, "ACC": (d["prediction"] == d["label"])[known].mean()}


def fd_shifts(sources, d):
    stats = runner(sources, "fd_shifts").stats
    known = d["label"] >= 0
    correct = (d["prediction"] == d["label"])[known]
    of = stats.RiskCoverageStats(confids=-d["unknown_score"][known],
                                 residuals=1 - correct.astype(int),
                                 labels=d["label"][known])
    fpr, tpr, _ = metrics.roc_curve(correct, -d["unknown_score"][known])
    return {
        "accuracy": correct.mean(),
        "aurc x1000": of.aurc,
        "e-aurc x1000": of.eaurc,
        "augrc x1000": of.augrc,
        "e-augrc x1000": of.eaugrc,
        "aurc-ba x1000": of.aurc_ba,
        "augrc-ba x1000": of.augrc_ba,
        "failauc": metrics.auc(fpr, tpr)
    }


def torch_uncertainty(sources, d):
    """The metrics of its ClassificationRoutine."""
    tu = runner(sources, "torch_uncertainty").tu
    from torchmetrics import Accuracy
    from torchmetrics.classification import BinaryAUROC, BinaryAveragePrecision
    classes, known = d["logits"].shape[1], d["label"] >= 0
    is_unknown = torch.tensor((~known).astype(int))
    of_known = {
        "cls/Acc": Accuracy(task="multiclass", num_classes=classes),
        "cls/Brier": tu.BrierScore(num_classes=classes),
        "cls/NLL": tu.CategoricalNLL(),
        "sc/AURC": tu.AURC(),
        "sc/AUGRC": tu.AUGRC(),
        "sc/Cov_5Risk": tu.CovAt5Risk(),
        "sc/Risk_80Cov": tu.RiskAt80Cov()
    }
    for name, settings in (("cal/ECE", {}), ("cal/MCE", {"norm": "max"}), ("cal/aECE", {"adaptive": True})):
        of_known[name] = tu.CalibrationError(task="multiclass", num_bins=15, num_classes=classes, **settings)
    printed = {}
    if len(set(d["unknown_score"])) == len(known):
        p, label = torch.tensor(d["p"][known]), torch.tensor(d["label"][known])
        printed = {name: float(metric(p, label)) for name, metric in of_known.items()}
    for name, metric in (("ood/AUROC", BinaryAUROC()), ("ood/AUPR", BinaryAveragePrecision()),
                         ("ood/FPR95", tu.FPR95(pos_label=1))):
        printed[name] = float(metric(torch.tensor(d["unknown_score"]), is_unknown))
    return {name: value for name, value in printed.items() if not np.isnan(value)}


def udb(sources, d):
    """Both of its functions that print, with what they load from networks given."""
    known, confidence = d["label"] >= 0, 1 - d["unknown_score"]
    given = {"in": confidence[known].copy(), "out": confidence[~known].copy()}
    correct = (d["prediction"] == d["label"])[known].astype(int)
    stubs = {"dataloader": {"in_dist_loader": lambda *_: "in", "out_dist_loader": lambda *_: "out",
                            "tst_loader": lambda *_, **__: "in"},
             "utils": {"get_values": lambda loader, *_: (None, correct, None, given[loader]), "get_posterior": None}}
    for name, members in stubs.items():
        sys.modules[name] = Settings(**members)
    folder = os.path.join(sources, "unknown-detection-benchmarks")
    arguments = Settings(benchmark="", method="baseline", data_dir="", batch_size=1)
    selective = load(folder, "metrics_md", "udb_code").md_metrics(None, None, arguments)
    given["in"] = given["in"].copy()
    detection = load(folder, "metrics_ood", "udb_code").ood_metrics("", "", None, None, arguments)
    for name in stubs:
        del sys.modules[name]
    return {"ACC": selective["ACC"] / 100, "AURC x1000": selective["AURC"],
            "FPR@95%TPR": detection["FPR@95%TPR"] / 100, "AUROC": detection["AUROC"] / 100}


def released(sources, d):
    """The evaluation of OpenAUC's code."""
    module = load(os.path.join(sources, "OpenAUC", "utils"), "test_utils", "openauc_code")
    known = d["label"] >= 0
    sides = (known, ~known)
    lists = ([d["logits"][side].tolist() for side in sides], [d["unknown_score"][side].tolist() for side in sides],
             [np.maximum(d["label"][side], 0).tolist() for side in sides], [[int(i)] * int(side.sum()) for i, side in
                                                                            enumerate(sides)])
    found = module.EvaluateOpenSet.evaluate(None, load=False, preds=lists)
    return {"ACC": found["Acc"], "AUROC": found["AUROC"], "OpenAUC": found["OpenAUC"],
            "Error@95%TPR": 1 - found["Acc_95"], "ma_f_score": max(found["ma"]), "mi_f_score": max(found["mi"])}


def odin(sources, d):
    """Written for Python 2 and older NumPy; it reads the confidences of its network without and with its temperature,
    of which the former are these."""
    if len(d["label"]) != 500:
        return {}
    with open(os.path.join(sources, "odin", "code", "calMetric.py")) as file:
        text = file.read().expandtabs()
    confidence, known = 1 - d["unknown_score"], d["label"] >= 0
    rows = {"In": confidence[known], "Out": confidence[~known]}

    class Numbers:
        float = float

        def __getattr__(self, name):
            return getattr(np, name)

        def loadtxt(self, path, **_):
            of = rows["In" if "_In" in path else "Out"]
            return np.tile((of if "Base" in path else 0.1 + of / 50)[:, None], 3)

    space = {"np": Numbers()}
    exec(text[text.index("def tpr95"):text.index("def metric(")], space)
    names = {"FPR at TPR 95%": "tpr95", "Detection error": "detection", "AUROC": "auroc", "AUPR In": "auprIn",
             "AUPR Out": "auprOut"}
    return {name: space[of]("CIFAR-10")[0] for name, of in names.items()}


def main():
    sources, path = sys.argv[1:]
    torch.set_default_dtype(torch.float64)
    cases = []
    for name, settings in (("distinct", (1, 300, 200, None)), ("ties", (2, 100, 140, 1)), ("few", (3, 37, 53, None))):
        d = arrays(*settings)
        printed = {
            of.__name__: {
                key: float(value) for key, value in of(sources, d).items()
            } for of in (openood, pytorch_ood, oe, arpl, fd_shifts, torch_uncertainty, udb, released, odin)
        }
        if name == "ties":
            printed["arpl"].pop("DTACC", None)  # of samples one by one
        cases.append({
            "name": name,
            "num_classes": d["logits"].shape[1],
            **{
                key: d[key].ravel().tolist() for key in ("label", "prediction", "unknown_score", "logits")
            }, "printed": printed
        })
    text = json.dumps({"about": "Made by tools/peers/make_conventions_golden.py.", "cases": cases}, indent=0)
    with open(path, "w") as file:
        file.write(text.replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]").replace(', "', ',\n"') + "\n")


if __name__ == "__main__":
    main()
