"""Arrays of samples, as the program reads them."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping


# The arrays of an .npz that `openset eval` reads (docs/eval.md).
NAMES = ("label", "logits", "unknown_score", "prediction", "features", "head_weight", "head_bias", "group",
         "group_names", "num_classes", "cluster", "correct", "loss", "class_names")


def printable(text: Any) -> str:
    r"""A text that others may have written, without control characters, for a message.

    >>> from openset._arrays import printable
    >>> printable("red\x1b[31m")
    'red�[31m'
    """
    return "".join(character if character.isprintable() else "\ufffd" for character in str(text))


def to_numpy(name: str, values: Any) -> Any:
    """`values` as a NumPy array: an array, a torch tensor on any device, an object with DLPack on the CPU, or a list.

    Columns of pandas that are categorical, nullable or of texts are what their values are. Arrays and tensors on the CPU
    are not copied, except if they have 16 bits or another byte order. Raises ValueError for masked values and for
    missing ones (None, NaN among texts, NA); in `group`, missing ones are "".
    """
    import numpy
    _refuse_masked(name, values)
    if hasattr(values, "detach"):  # torch
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) in ("torch.bfloat16", "torch.float16") else values
        shared = _shared(values)
        return values.numpy() if shared is None else shared
    if hasattr(values, "__dlpack__") and not isinstance(values, numpy.ndarray):
        shared = _shared(values)
        values = values if shared is None else shared
    try:
        array = numpy.asarray(values)
    except ValueError:
        array = None
    if array is not None and array.dtype.kind in "UST" and not isinstance(values, numpy.ndarray):
        array = numpy.asarray(values, dtype=object)  # before NumPy made texts of None and numbers
    if array is not None and array.dtype.kind in "OT" and array.ndim > 0:
        array = _typed(name, array)
    if array is None or array.dtype == object:
        raise ValueError(f"{name}: needs numbers in rows of one length{_first_odd_row(values)}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _refuse_masked(name: str, values: Any) -> None:
    """A masked array is measured with the values that its mask hides, unless it hides none."""
    import sys
    masked = sys.modules.get("numpy.ma")  # not imported: no array is masked
    parts = values if isinstance(values, (list, tuple)) else [values]
    if masked is not None and any(isinstance(part, masked.MaskedArray) and masked.getmaskarray(part).any()
                                  for part in parts):
        raise ValueError(f"{name} is a masked array: give {name}[~mask], and the same rows of the other arrays "
                         f"({name}.data has the masked values too)")


def _is_missing(value: Any) -> bool:
    """None, NaN, or pandas' NA or NaT."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _missing(name: str, row: int, value: Any) -> ValueError:
    advice = ": write -1 for unknown samples" if name == "label" else ""
    return ValueError(f"{name}: row {row} is missing ({value!r}){advice}")


def _typed(name: str, array: Any) -> Any:
    """An array of Python objects as one of numbers or texts; None if it is neither."""
    import numpy
    values = array.ravel().tolist()
    missing = next((at for at, value in enumerate(values) if _is_missing(value)), None)
    if missing is not None and name != "group":
        raise _missing(name, missing * len(array) // len(values), values[missing])
    there = [value for value in values if not _is_missing(value)]
    if all(isinstance(value, (str, bytes)) for value in there):
        typed = numpy.array(["" if _is_missing(value) else value for value in values], dtype=str)
    elif all(isinstance(value, (bool, int, float, numpy.number, numpy.bool_)) for value in there):
        typed = numpy.array([-1 if _is_missing(value) else value for value in values])
    else:
        return None
    return typed.reshape(array.shape)


def _shared(values: Any) -> Any:
    """The memory of a tensor as an array, through DLPack; None if NumPy can't use it."""
    import numpy
    try:
        return numpy.from_dlpack(values)
    except (AttributeError, BufferError, RuntimeError, TypeError):
        return None


def _first_odd_row(values: Any) -> str:
    lengths = [len(row) if hasattr(row, "__len__") else -1 for row in values] if hasattr(values, "__iter__") else []
    odd = next((at for at, length in enumerate(lengths) if length != lengths[0]), None)
    return "" if odd is None else f"; row {odd} has another length than row 0"


def samples(arrays: Mapping[str, Any]) -> Dict[str, Any]:
    """Checks the names of `arrays` and leaves out those that are None. `group` may contain names; label and prediction
    may, too, if there are class_names."""
    import numpy
    unknown = sorted(set(arrays) - set(NAMES))
    if unknown:
        raise ValueError(f"{printable(unknown[0])}: no such array; there are {', '.join(NAMES)}")
    kept = {name: to_numpy(name, values) for name, values in _with_codes(arrays).items() if values is not None}
    for name, values in kept.items():
        if values.dtype.kind in "US" and values.size > 0 and name not in (
                "group", "group_names", "cluster", "class_names"):
            if name in ("label", "prediction") and kept.get("class_names") is not None and values.ndim == 1:
                kept[name] = _indices(name, values, kept["class_names"])
                continue
            advice = (": the index of each sample's class, -1 = unknown; with class_names, texts are their indices"
                      if name in ("label", "prediction") else "")
            raise ValueError(f"{name}: has texts ('{printable(values.flat[0])}'), it needs numbers{advice}")
    label = kept.get("label")
    if label is not None and label.dtype.kind == "f" and label.ndim == 1 and numpy.isnan(label).any():
        raise _missing("label", int(numpy.isnan(label).argmax()), float("nan"))
    cluster = kept.get("cluster")
    if cluster is not None and cluster.dtype.kind in "US":
        kept["cluster"] = numpy.unique(cluster, return_inverse=True)[1].astype(numpy.int64)
    group = kept.get("group")
    if group is not None and group.dtype.kind == "f" and group.ndim == 1:
        kept["group"] = numpy.where(numpy.isnan(group), -1, group)  # pandas has no integer for "no group"
    if group is not None and group.dtype.kind in "US":
        names, index = numpy.unique(group.astype(str), return_inverse=True)
        kept["group_names"] = names[names != ""]
        kept["group"] = index - int(names[0] == "") if len(names) else index
    return kept


# Categories that stand for unknown samples, which would count as a known class.
_UNKNOWN = ("", "-1", "n/a", "nan", "none", "novel", "null", "ood", "unk", "unknown")


def _indices(name: str, texts: Any, class_names: Any) -> Any:
    """The indices of texts in class_names, -1 for labels of unknown samples."""
    import numpy
    index = {str(text): at for at, text in enumerate(class_names.astype(str).ravel())}
    if name == "label":
        index = {**{text: -1 for text in _UNKNOWN}, **index}
    found = numpy.empty(len(texts), numpy.int64)
    for row, text in enumerate(texts.astype(str)):
        at = index.get(text, index.get(text.lower()) if text.lower() in _UNKNOWN else None)
        if at is None:
            advice = "; unknown samples have the label '' or 'unknown'" if name == "label" else ""
            raise ValueError(f"{name}: row {row}: '{printable(text)}' is none of class_names{advice}")
        found[row] = at
    return found


def _with_codes(arrays: Mapping[str, Any]) -> Dict[str, Any]:
    """Labels and predictions that are categories of texts in pandas, as the categories' indices; missing = unknown.

    The indices mean the same classes only if the categories agree, with each other and with the columns of logits.
    """
    found = dict(arrays)
    categories: Dict[str, List[str]] = {}
    for name in ("label", "prediction"):
        values: Any = getattr(found.get(name), "cat", found.get(name))  # of a Series
        texts = list(getattr(values, "categories", ()))
        if not texts or not hasattr(values, "codes") or not all(isinstance(text, str) for text in texts):
            continue
        marker = next((text for text in texts if text.strip().lower() in _UNKNOWN), None)
        if marker is not None:
            raise ValueError(f"{name}: its category '{printable(marker)}' would be a known class; make these values "
                             "missing (remove_categories()), which means unknown")
        categories[name], found[name] = texts, to_numpy(name, values.codes)
    known = list(categories.values())
    if len(known) == 2 and known[0] != known[1]:
        raise ValueError("label and prediction have different categories, so their indices differ: use one CategoricalDtype")
    columns: Any = getattr(found.get("logits"), "shape", ())
    if known and len(columns) == 2 and columns[1] != len(known[0]):
        raise ValueError(f"label: has {len(known[0])} categories, and logits has {columns[1]} columns: name each output, in "
                         "its order (set_categories())")
    return found


class Files:
    """A folder for files, removed at the end of the `with`; in memory if the system has such a folder."""

    def __enter__(self) -> "Files":
        import tempfile
        shared = "/dev/shm"
        self._folder = tempfile.TemporaryDirectory(
            prefix="openset-", dir=shared if os.access(shared, os.W_OK) else None)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def path(self, name: str) -> str:
        return os.path.join(self._folder.name, name)
