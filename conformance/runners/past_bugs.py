"""Bugs of the past, made again; the suite must catch each: OpenOOD#298 (ViM's dimension, set by the search after setup(),
had no effect), pytorch-ood#160 (OpenMax's settings, set by the search after __init__(), had none), and a score with the
wrong sign."""
import numpy as np

NAME, VERSION = "bugs of the past", "1"


class Vim:
    """Makes its subspace in setup() from the dimension that it has then."""

    def setup(self, d):
        self.dim = 3
        self.origin = -np.linalg.pinv(d["head_weight"]) @ d["head_bias"]
        values, vectors = np.linalg.eigh(np.cov((d["train_features"] - self.origin).T))
        self.rest = vectors[:, np.argsort(-values)[self.dim:]]

    def score(self, d):
        return np.linalg.norm((d["features"] - self.origin) @ self.rest, axis=1) - d["logits"].max(1)


def vim(d, dim):
    of = Vim()
    of.setup(d)
    of.dim = dim  # too late
    return of.score(d)


class OpenMax:
    """Makes its model in __init__() from the tail that it has then; the model stands for OpenMax's."""

    def __init__(self):
        self.tail = 20
        self.model = lambda train, test, tail=self.tail: test / np.sort(train)[-tail:].mean()

    def score(self, d):
        return self.model(np.linalg.norm(d["train_logits"], axis=1), np.linalg.norm(d["logits"], axis=1))


def openmax(d, tail):
    of = OpenMax()
    of.tail = tail  # too late
    return of.score(d)


def metrics(d):
    known, score = d["label"] >= 0, d["unknown_score"].astype(float)
    return {"auroc": np.mean([(k > u) + 0.5 * (k == u) for u in score[~known] for k in score[known]])}


def scores(d):
    return {
        "vim_2": lambda: vim(d, 2),
        "vim_5": lambda: vim(d, 5),
        "openmax_tail5": lambda: openmax(d, 5),
        "openmax_tail20": lambda: openmax(d, 20),
        "max_logit": lambda: d["logits"].max(1)
    }
