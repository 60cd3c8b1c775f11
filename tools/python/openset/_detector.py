"""openset.Detector: decides which outputs of a network are rejected as unknown, by a file (docs/decisions.md)."""
from __future__ import annotations

import os

from openset import _evaluate, _library
from openset._own_score import OwnScore
from openset._result import real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Optional, Union

    from openset._evaluate import Arrays, ScoreLike


class Decisions:
    """unknown_score f64 [N]; rejected bool [N]; prediction i64 [N], empty if the outputs have no logits."""

    def __init__(self, unknown_score: Any, rejected: Any, prediction: Any) -> None:
        self.unknown_score = unknown_score
        self.rejected = rejected
        self.prediction = prediction

    def __repr__(self) -> str:
        return f"<openset decisions: {int(self.rejected.sum())} of {len(self.rejected)} samples rejected>"


class Detector:
    """A detector in a file: a score, what it is fitted to, and a threshold. `openset detector` and the C library decide
    the same by it, to the bit.

    >>> import os, tempfile, openset
    >>> folder = tempfile.TemporaryDirectory()
    >>> validation = dict(label=[0, 1, 0, 1], logits=[[9., 1.], [1., 8.], [7., 1.], [1., 2.]])
    >>> detector = openset.Detector.save(os.path.join(folder.name, "d.npz"), validation, score="max_logit",
    ...                                  target=0.75)
    >>> detector.apply(logits=[[9., 0.], [1., 2.]]).rejected.tolist()
    [False, True]
    """

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self._take(_library.call("apply_detector", dict(path=self.path))[0])

    def _take(self, found: Mapping[str, Any]) -> None:
        self.score: str = found["score"]
        self.threshold = float(found["threshold"])
        self.rule: str = found["rule"]
        self.guarantee: str = found["guarantee"]
        self.class_names = list(found["class_names"])

    @classmethod
    def save(cls, path: Union[str, os.PathLike[str]], validation: Arrays, *, score: ScoreLike = None,
             fit: Optional[Arrays] = None, rule: Optional[str] = None, target: Optional[float] = None,
             delta: Optional[float] = None) -> Detector:
        """Chooses a threshold on `validation`, as openset.threshold() does, and writes the detector to `path`."""
        if isinstance(score, OwnScore):
            raise ValueError("score: a detector keeps scores of openset; give your own as unknown_score")
        threshold = dict(samples={"score": _evaluate._score_text(score)}, rule=rule, target=real("target", target),
                         delta=real("delta", delta))
        path = os.path.abspath(os.fspath(path))
        _library.call("save_detector", dict(threshold=threshold, path=path), [("validation", dict(validation))], fit)
        return cls(path)

    def apply(self, **outputs: Any) -> Decisions:
        """Decides about outputs: logits [N, K], features [N, D], unknown_score [N], as the detector needs them. Raises
        ValueError for outputs of another network."""
        if outputs.get("logits") is None and outputs.get("unknown_score") is None:
            raise ValueError("outputs: has no logits (logits=), without which no score of a network is computed")
        _, found, _ = _library.call("apply_detector", dict(path=self.path), [("outputs", outputs)],
                                    wanted=["unknown_score", "prediction", "rejected"])
        return Decisions(found["unknown_score"], found["rejected"].astype(bool), found["prediction"])

    def __repr__(self) -> str:
        return f"<openset detector {self.path}: {self.score}, rejected above {self.threshold:.6g}. {self.guarantee}>"
