"""Its metrics alone: the package's own start needs Lightning."""
import importlib.util
import os
import sys
from importlib.metadata import version
from types import ModuleType

import torch

NAME, VERSION = "torch-uncertainty", version("torch-uncertainty")
TOLERANCE = 1e-6  # single precision
origin = os.path.dirname(importlib.util.find_spec("torch_uncertainty").origin)
for name in ("torch_uncertainty", "torch_uncertainty.metrics"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [os.path.join(origin, *name.split(".")[1:])]
tu = importlib.import_module("torch_uncertainty.metrics.classification")
from torchmetrics.classification import BinaryAUROC, BinaryAveragePrecision  # noqa: E402


def metrics(d):
    """As its ClassificationRoutine measures unknown samples."""
    score, unknown = torch.tensor(d["unknown_score"].astype(float)), torch.tensor((d["label"] < 0).astype(int))
    known = unknown == 0
    label, prediction = torch.tensor(d["label"])[known].long(), torch.tensor(d["prediction"])[known].long()
    # "Probabilities" whose largest is minus the score, at the prediction: the rank is all that these two use.
    confidence = torch.full((len(label), int(prediction.max()) + 1), -torch.inf, dtype=score.dtype)
    confidence[torch.arange(len(label)), prediction] = -score[known]

    def selective(metric):
        metric.update(confidence, label)
        return metric.compute()

    return {
        "auroc": BinaryAUROC()(score, unknown),
        "aupr_unknown": BinaryAveragePrecision()(score, unknown),
        "fpr95_unknown_positive": tu.FPR95(pos_label=1)(score, unknown),
        "aurc": selective(tu.AURC()),
        "augrc": selective(tu.AUGRC()),
        "risk_at_80coverage": selective(tu.RiskAt80Cov()),
        "coverage_at_5risk": selective(tu.CovAt5Risk())
    }
