from importlib.metadata import version

import osr_metrics as osr

NAME, VERSION = "osr-metrics", version("osr-metrics")


def metrics(d):
    score, unknown = d["unknown_score"].astype(float), (d["label"] < 0).astype(int)
    known = unknown == 0
    wrong = (d["prediction"] != d["label"])[known].astype(float)
    return {
        "auroc": osr.auroc(score, unknown),
        "aupr_unknown": osr.aupr_out(score, unknown),
        "aupr_known": osr.aupr_in(score, unknown),
        "fpr95_unknown_positive": osr.fpr_at_95tpr(score, unknown),
        "aurc": osr.aurc(score[known], wrong),
        "oscr": osr.compute_aoscr(score, unknown, d["prediction"], d["label"])
    }
