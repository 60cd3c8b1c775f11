"""Calls openset's measurements in this process, with ctypes, which lets other threads run meanwhile.

tools/python/library/openset.h describes each function. Arrays are passed as they are in memory, with their strides.
"""
from __future__ import annotations

import os

from openset import _arrays
from openset._program import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

# OPENSET_MEASURES is for a library built from source.
PATH = os.environ.get("OPENSET_MEASURES") or os.path.join(
    FOLDER, "openset.runfiles", "openset", "tools", "python", "library", "libopenset_measures.so")
_INTERFACE = 1
_NO_MEMORY = 3
_loaded: List[Any] = []


def _load() -> Any:
    """The library, with the types of its functions, and the structure of an array."""
    if _loaded:
        return _loaded[0]
    import ctypes
    try:
        library: Any = ctypes.CDLL(PATH)
    except OSError as error:
        raise ImportError(f"openset can't load its library: {error}. Install it again: "
                          "python -m pip install --force-reinstall openset") from None
    number = ctypes.POINTER(ctypes.c_int64)

    class Array(ctypes.Structure):
        _fields_ = [("set", ctypes.c_int32), ("rank", ctypes.c_int32), ("name", ctypes.c_char_p),
                    ("type", ctypes.c_char_p), ("item_bytes", ctypes.c_int64), ("data", ctypes.c_void_p),
                    ("shape", number), ("strides", number)]

    library.Array = Array
    answer = ctypes.c_void_p
    for name, result, arguments in (
            ("interface", ctypes.c_int32, []),
            ("call", answer, [ctypes.c_char_p, ctypes.c_int64, ctypes.POINTER(Array), ctypes.c_int64]),
            ("code", ctypes.c_int32, [answer]),
            ("text", ctypes.c_void_p, [answer, number]),
            ("hints", ctypes.c_void_p, [answer, number]),
            ("array", ctypes.c_void_p, [answer, ctypes.c_char_p, number]),
            ("free", None, [answer]),
            ("limit_threads", None, [ctypes.c_int32])):
        function = getattr(library, f"openset_{name}")
        function.restype, function.argtypes = result, arguments
        setattr(library, name, function)
    if library.interface() != _INTERFACE:
        raise ImportError(f"{PATH}: is of another version of openset; install it again")
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdigit() and int(threads) > 0:
        library.limit_threads(min(int(threads), 1 << 20))
    _loaded.append(library)
    return library


def set_num_threads(threads: int) -> None:
    """Sets the maximum number of threads of later calls; by default OMP_NUM_THREADS, or one for each CPU that the
    process may use. Results don't depend on it.

    >>> import openset
    >>> openset.set_num_threads(2)
    """
    if not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads: must be a whole number from 1 (is {threads!r})")
    _load().limit_threads(min(threads, 1 << 20))


def message(fields: Mapping[str, Any]) -> str:
    r"""A Protobuf message as text, without fields that are None, False or empty.

    >>> from openset._library import message
    >>> message(dict(score='knn { k: 5 }', near=["a", 'b"'], ci=True, level=0.9, interval=dict(seed=3)))
    'score: "knn { k: 5 }" near: "a" near: "b\\042" ci: true level: 0.9 interval { seed: 3 } '
    """
    text = ""
    for name, value in fields.items():
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            text += f"{name} {{ {message(one)}}} " if isinstance(one, dict) else f"{name}: {_value(one)} "
    return text


def _value(value: Any) -> str:
    if value is True:
        return "true"
    if not isinstance(value, str):
        return repr(value)
    kept = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}"
                   for byte in value.encode(errors="surrogateescape"))
    return f'"{kept}"'


def call(kind: str, request: Any, sets: Sequence[Tuple[str, Mapping[str, Any]]] = (),
         fit: Optional[Mapping[str, Any]] = None, renamed: Optional[Mapping[str, str]] = None,
         wanted: Sequence[str] = (), is_quiet: bool = False) -> Tuple[Any, Dict[str, Any], List[str]]:
    """Calls the library for `kind`, a field of Call (tools/evaluation/request.proto), with sets of arrays by name.

    Returns what the program prints, read as JSON, the `wanted` arrays of the answer, and the program's hints, which it
    has also warned of unless `is_quiet`. Raises ValueError for wrong arguments or arrays, with paths in the message replaced by `renamed`
    ({path: name}), MemoryError if there is too little memory, and RuntimeError for other failures.
    """
    import ctypes
    import json
    library = _load()
    named = [*sets, ("fit", fit)] if fit is not None else list(sets)
    fields: Dict[str, Any] = {"set": [name for name, _ in named], kind: request}
    if fit is not None:
        fields["fit"] = len(named) - 1
    text = message(fields).encode()
    kept = [(index, name, array) for index, (_, arrays) in enumerate(named)
            for name, array in _arrays.samples(arrays).items()]
    views = (library.Array * len(kept))()
    for view, (index, name, array) in zip(views, kept):
        extents = ctypes.c_int64 * array.ndim
        view.set, view.rank, view.name, view.type = index, array.ndim, name.encode(), array.dtype.str.encode()
        view.item_bytes, view.data = array.itemsize, array.ctypes.data
        view.shape, view.strides = extents(*array.shape), extents(*array.strides)
    answer = library.call(text, len(text), views, len(kept))
    if not answer:
        raise MemoryError("openset: out of memory")
    try:
        length = ctypes.c_int64()
        said = ctypes.string_at(library.text(answer, length), length.value).decode()
        code = library.code(answer)
        if code == _NO_MEMORY:
            raise MemoryError("openset: out of memory")
        if code != 0:
            for path, name in (renamed or {}).items():
                said = said.replace(path, name)
            raise (ValueError if code == 2 else RuntimeError)(said)
        hints = json.loads(ctypes.string_at(library.hints(answer, length), length.value))
        found = {name: _copy(library, answer, name) for name in wanted}
    finally:
        library.free(answer)
    if not is_quiet:
        warn(hints)
    return json.loads(said), found, hints


class HintWarning(UserWarning):
    """The measured samples look like a mistake: what the program prints as a hint."""


def warn(hints: Sequence[str]) -> None:
    """Warns at the line that called this package."""
    import sys
    import warnings
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        level, frame = level + 1, frame.f_back
    for hint in hints:
        warnings.warn(hint, HintWarning, stacklevel=level)


def _copy(library: Any, answer: Any, name: str) -> Any:
    import ctypes

    import numpy
    length = ctypes.c_int64()
    data = library.array(answer, name.encode(), length)
    found = numpy.empty(length.value, numpy.float64 if name == "unknown_score" else numpy.int64)
    if length.value:
        ctypes.memmove(found.ctypes.data, data, found.nbytes)
    return found
