import torch
from importlib.metadata import version
from pytorch_ood import detector
from pytorch_ood.metrics import OODMetrics

NAME, VERSION = "pytorch-ood", version("pytorch-ood")
TOLERANCE = 2e-4  # single precision


def metrics(d):
    of = OODMetrics()
    of.update(torch.tensor(d["unknown_score"].astype(float)), torch.tensor(d["label"].astype(int)))
    found = of.compute()
    return {
        "auroc": found["AUROC"],
        "aupr_unknown": found["AUPR-OUT"],
        "aupr_known": found["AUPR-IN"],
        "fpr95_unknown_positive": found["FPR95TPR"],
        "autc": found["AUTC"]
    }


def scores(d):
    if "num_classes" in d:  # no score of an output for the unknown
        return {}
    t = {
        key: torch.tensor(array).float() if "label" not in key else torch.tensor(array).long()
        for key, array in d.items()
    }
    head = torch.nn.Linear(*t["head_weight"].shape[::-1])
    head.weight.data, head.bias.data = t["head_weight"], t["head_bias"]
    train = t["train_features"], t["train_label"]

    def fitted(of):
        return of.fit_features(*train).predict_features(t["features"])

    def vim(dim):
        return fitted(detector.ViM(None, dim, t["head_weight"], t["head_bias"]))

    def react(percentile):
        of = detector.ReAct(lambda x: x, head, percentile=percentile / 100)
        return of.fit_feature_maps(*train).predict_feature_maps(t["features"]).detach()

    def openmax(tail):
        of = detector.OpenMax(None)
        of.tailsize = tail  # as GridSearch sets it
        return of.fit_logits(t["train_logits"], t["train_label"]).predict_logits(t["logits"])

    logits = t["logits"]
    return {
        "max_softmax": lambda: detector.MaxSoftmax.score(logits),
        "max_logit": lambda: detector.MaxLogit.score(logits),
        "energy": lambda: detector.EnergyBased.score(logits),
        "energy_t2": lambda: detector.EnergyBased.score(logits, 2),
        "entropy": lambda: detector.Entropy.score(logits),
        "gen_01": lambda: detector.GEN.score(logits, 0.1),
        "gen_05_top2": lambda: detector.GEN.score(logits, 0.5, 2),
        "mahalanobis": lambda: fitted(detector.Mahalanobis(None)),
        "relative_mahalanobis": lambda: fitted(detector.RMD(None)),
        "knn_1": lambda: fitted(detector.KNN(None, 1)),
        "knn_10": lambda: fitted(detector.KNN(None, 10)),
        "vim_2": lambda: vim(2),
        "vim_5": lambda: vim(5),
        "react_90": lambda: react(90),
        "react_60": lambda: react(60),
        "dice_90": lambda: fitted(detector.DICE(None, t["head_weight"], t["head_bias"], 0.9)),
        "dice_50": lambda: fitted(detector.DICE(None, t["head_weight"], t["head_bias"], 0.5)),
        "fdbd": lambda: fitted(detector.fDBD(None, head)).detach(),
        **{f"nnguide_{k}": lambda k=k: fitted(detector.NNGuide(lambda x: x, head, k=k)) for k in (1, 10)},
        **{f"nci_{name}": lambda alpha=alpha: fitted(detector.NCI(lambda x: x, head, alpha=alpha)).detach()
           for name, alpha in (("00001", 0.0001), ("01", 0.1))},
        "kl_matching": lambda: detector.KLMatching(None).fit_logits(t["train_logits"]).predict_logits(logits),
        "openmax_tail5": lambda: openmax(5),
        "openmax_tail20": lambda: openmax(20),
        "she": lambda: fitted(detector.SHE(lambda x: x, head)).detach()
    }
