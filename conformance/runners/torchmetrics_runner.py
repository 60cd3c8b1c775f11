from importlib.metadata import version

import torch
from torchmetrics.functional import classification as tm

NAME, VERSION = "torchmetrics", version("torchmetrics")
TOLERANCE = 1e-6  # single precision


def metrics(d):
    score, unknown = torch.tensor(d["unknown_score"].astype(float)), torch.tensor((d["label"] < 0).astype(int))
    known = d["label"] >= 0
    label, prediction = torch.tensor(d["label"][known]), torch.tensor(d["prediction"][known])
    fpr, tpr, _ = tm.binary_roc(score, unknown)
    return {
        "auroc": tm.binary_auroc(score, unknown),
        "aupr_unknown": tm.binary_average_precision(score, unknown),
        "aupr_known": tm.binary_average_precision(-score, 1 - unknown),
        "fpr95_unknown_positive": fpr[(tpr >= 0.95).int().argmax()],
        "accuracy": tm.multiclass_accuracy(prediction, label, num_classes=5, average="micro")
    }
