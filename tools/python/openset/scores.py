"""Unknown scores that need no network: openset.scores.KNN(k=50).fit(...).score_samples(...).

Each score of `openset list scores` is a class here, named like it without underscores, with any capitalisation:
MaxLogit, Energy, KNN, ViM. Its arguments are the score's fields (`openset show score knn`). Scores are larger = more
unknown.
"""
from __future__ import annotations

from openset import _arrays, _library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

_FIT_ARRAYS = ("label", "logits", "features", "head_weight", "head_bias")


class Score:
    """A score by its name, with scikit-learn's fit() and score_samples(); it has no get_params().

    >>> import openset
    >>> openset.scores.MaxLogit().score_samples(logits=[[1., 3.], [2., 0.]]).tolist()
    [-3.0, -2.0]
    """

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        self.fields = fields
        self._fit: Optional[Dict[str, Any]] = None

    @property
    def spec(self) -> str:
        """The form of the command line and of specs: "knn { k: 50 }"."""
        return f"{self.name} {{ {' '.join(f'{name}: {_field(value)}' for name, value in self.fields.items())} }}"

    def fit(self, **arrays: Any) -> "Score":
        """Stores the training samples (label, logits, features, and the last layer); the score is fitted when it is
        used."""
        self._fit = _only(arrays)
        return self

    def score_samples(self, **arrays: Any) -> Any:
        """The unknown score of each sample, [N] of float64."""
        import numpy
        arrays = _only(arrays)
        samples = next((arrays[name] for name in ("logits", "features") if name in arrays), None)
        if samples is None:
            raise ValueError(f"{self.name}: score_samples() needs the samples: give logits=, or features= and what else "
                             f"'openset show score {self.name}' names")
        length = len(samples) if samples.ndim else 1
        # Labels have no effect here, but the library requires them.
        arrays.setdefault("label", numpy.zeros(length, dtype=numpy.int64))
        return _library.call("score", {"score": self.spec}, [("samples", arrays)], self._fit,
                             wanted=["unknown_score"])[1]["unknown_score"]

    def __repr__(self) -> str:
        return f"openset.scores.Score({self.spec!r})"


def _field(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _only(arrays: Dict[str, Any]) -> Dict[str, Any]:
    unknown = sorted(set(arrays) - set(_FIT_ARRAYS))
    if unknown:
        raise ValueError(f"{_arrays.printable(unknown[0])}: no such array; there are {', '.join(_FIT_ARRAYS)}")
    return {name: _arrays.to_numpy(name, values) for name, values in arrays.items() if values is not None}


_names: List[str] = []


def names() -> List[str]:
    """The names of all scores."""
    if not _names:
        _names.extend(_library.call("list_scores", True)[0])
    return list(_names)


def __getattr__(attribute: str) -> Any:
    wanted = attribute.replace("_", "").lower()
    for name in names() if attribute[:1].isupper() else ():
        if name.replace("_", "") == wanted:
            return lambda **fields: Score(name, **fields)
    raise AttributeError(f"module 'openset.scores' has no attribute {attribute!r}; there are {', '.join(names())}"
                         if attribute[:1].isupper() else f"module 'openset.scores' has no attribute {attribute!r}")
