"""@openset.score: your own score in Python, evaluated like the program's own."""
from __future__ import annotations

from openset import _arrays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Mapping, Optional

_ARRAYS = ("logits", "features", "head_weight", "head_bias", "fit")


class OwnScore:
    """A function of arrays that computes an unknown score, [N], larger = more unknown.

    `name` is the function's; `sha256` identifies its source: the text of the function, without indentation. Functions
    that it calls are not part of it.
    """

    def __init__(self, function: Callable[..., Any], name: Optional[str] = None) -> None:
        import hashlib
        import inspect
        import textwrap
        self.function = function
        self.name = name or function.__name__
        self.__doc__ = function.__doc__
        self._parameters = []
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name in _ARRAYS:
                self._parameters.append(parameter)
            elif parameter.default is inspect.Parameter.empty:
                raise ValueError(f"score {self.name}: has the parameter '{parameter.name}'; a score takes any of "
                                 f"{', '.join(_ARRAYS)}, and others that have a default")
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except OSError:
            raise ValueError(f"score {self.name}: its source can't be read, and results state its SHA-256; define it "
                             "in a file or in a notebook") from None
        self.sha256 = hashlib.sha256(source.encode()).hexdigest()

    def __call__(self, *arguments: Any, **arrays: Any) -> Any:
        return self.function(*arguments, **arrays)

    def score_samples(self, *, fit: Optional[Mapping[str, Any]] = None, **arrays: Any) -> Any:
        """The unknown score of each sample, [N] of float64. Raises ValueError for anything else."""
        import inspect

        import numpy
        given: Dict[str, Any] = _locked(_arrays.samples(arrays))
        samples = len(next(iter(given.values()))) if given else 0
        given["fit"] = None if fit is None else _locked(_arrays.samples(dict(fit)))
        words = {}
        for parameter in self._parameters:
            value = given.get(parameter.name)
            if value is not None:
                words[parameter.name] = value
            elif parameter.default is inspect.Parameter.empty:
                raise ValueError(f"score {self.name}: needs {parameter.name}; give {parameter.name}=")
        found = _arrays.to_numpy(f"score {self.name}", self.function(**words))
        if found.shape != (samples,) or found.dtype.kind not in "fiub":
            raise ValueError(f"score {self.name}: returned {found.dtype} {list(found.shape)} for {samples} samples; "
                             f"it must return a number for each")
        found = found.astype(numpy.float64)
        if numpy.isnan(found).any():
            raise ValueError(f"score {self.name}: row {int(numpy.isnan(found).argmax())}: is NaN")
        return found

    @property
    def source(self) -> Dict[str, str]:
        """Its description in a result."""
        return {"name": self.name, "sha256": self.sha256}

    def __repr__(self) -> str:
        return f"<openset score {self.name}, source {self.sha256[:12]}>"


def _locked(arrays: Mapping[str, Any]) -> Dict[str, Any]:
    """The arrays, which a function can't change: they are the caller's, and later scores read them too."""
    found = {name: values.view() for name, values in arrays.items()}
    for view in found.values():
        view.flags.writeable = False
    return found


def score(function: Callable[..., Any]) -> OwnScore:
    """A decorator: makes a function of arrays a score that evaluate(), compare() and stores accept like ours.

    The function's parameters are any of logits [N, K], features [N, D], head_weight [K, D], head_bias [K] and fit, the
    arrays of the training samples by name; they are read-only (copy one to change it: numpy.sort(logits)). It returns [N]
    numbers, larger = more unknown.

    >>> import openset
    >>> @openset.score
    ... def margin(logits):
    ...     top = numpy.sort(logits)
    ...     return top[:, -2] - top[:, -1]
    >>> import numpy
    >>> margin.score_samples(logits=[[1., 3.], [2., 0.5]]).tolist()
    [-2.0, -1.5]
    >>> found = openset.evaluate_scores(["energy", margin], label=[0, -1], logits=[[4., 1.], [1., 1.5]],
    ...                                 metrics=["auroc"])
    >>> [(row["score"], row["auroc"]) for row in found.rows]
    [('energy', 1.0), ('margin', 1.0)]
    """
    return OwnScore(function)
