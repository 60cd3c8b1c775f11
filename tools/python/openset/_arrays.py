"""Arrays of samples, as the program reads them."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping


# The arrays of an .npz that `openset eval` reads (docs/eval.md).
NAMES = ("label", "logits", "unknown_score", "prediction", "features", "head_weight", "head_bias", "group",
         "group_names", "num_classes")


def to_numpy(name: str, values: Any) -> Any:
    """`values` as a NumPy array: an array, a torch tensor on any device, an object with DLPack on the CPU, or a list.

    Arrays and tensors on the CPU are not copied, except those of 16 bits and those with another byte order.
    """
    import numpy
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
    if array is None or array.dtype == object:
        raise ValueError(f"{name}: needs numbers in rows of one length{_first_odd_row(values)}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


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
    """Checks the names of `arrays` and leaves out those that are None. `group` may contain names."""
    import numpy
    unknown = sorted(set(arrays) - set(NAMES))
    if unknown:
        raise ValueError(f"{unknown[0]}: no such array; there are {', '.join(NAMES)}")
    kept = {name: to_numpy(name, values) for name, values in arrays.items() if values is not None}
    group = kept.get("group")
    if group is not None and group.dtype.kind in "US":
        names, index = numpy.unique(group.astype(str), return_inverse=True)
        kept["group_names"] = names[names != ""]
        kept["group"] = index - int(names[0] == "") if len(names) else index
    return kept


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
