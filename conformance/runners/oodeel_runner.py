from importlib.metadata import version

import numpy as np
from oodeel.eval.metrics import bench_metrics

NAME, VERSION = "oodeel", version("oodeel")


def metrics(d):
    known, score = d["label"] >= 0, d["unknown_score"].astype(float)
    found = bench_metrics((score[known], score[~known]), metrics=["auroc", "fpr95tpr"], step=1)
    return {"auroc": np.float64(found["auroc"]), "fpr95_unknown_positive": found["fpr95tpr"]}
