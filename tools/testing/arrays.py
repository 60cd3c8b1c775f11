"""NumPy's files, written and read with Python's standard library alone: tests may not rely on NumPy.

An array has its values in one row-major list. f32([1, 2, 3, 4], 2, 2) has two rows; without a shape it has one axis.
"""
import ast
import math
import struct
import typing
import zipfile

_KINDS = {"<f2": "e", "<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|i1": "b", "|u1": "B", "<u2": "H", "<u4": "I",
          "<u8": "Q", "|b1": "?"}


class Array(typing.NamedTuple):
    values: list  # of numbers or texts; or the bytes of the data
    shape: tuple
    kind: str  # NumPy's: "<f4", "<i8", "<U5" ...


def _array(values, shape, kind):
    values = list(values)
    shape = shape or (len(values),)
    assert math.prod(shape) == len(values), (shape, len(values))
    return Array(values, shape, kind)


def f32(values, *shape):
    return _array(values, shape, "<f4")


def f64(values, *shape):
    return _array(values, shape, "<f8")


def i64(values, *shape):
    return _array(values, shape, "<i8")


def u8(values, *shape):
    return _array(values, shape, "|u1")


def scalar(value, kind="<i8"):
    return Array([value], (), kind)


def texts(values):
    values = list(values)
    return Array(values, (len(values),), f"<U{max(1, *map(len, values))}")


def npy(array):
    """The bytes of a .npy file."""
    shape = "(" + "".join(f"{n}," for n in array.shape) + ")"
    header = f"{{'descr': '{array.kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    if isinstance(array.values, bytes):
        data = array.values
    elif array.kind.startswith("<U"):
        width = int(array.kind[2:])
        data = "".join(text.ljust(width, "\0") for text in array.values).encode("utf-32-le")
    else:
        data = struct.pack(f"<{len(array.values)}{_KINDS[array.kind]}", *array.values)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data


def read_npy(content):
    length, = struct.unpack("<H", content[8:10])
    assert content[:8] == b"\x93NUMPY\1\0", content[:8]
    header, data = ast.literal_eval(content[10:10 + length].decode()), content[10 + length:]
    assert not header["fortran_order"]
    kind, shape = header["descr"], header["shape"]
    count = math.prod(shape)
    if kind.startswith("<U"):
        width, text = int(kind[2:]), data.decode("utf-32-le")
        return Array([text[i * width:(i + 1) * width].rstrip("\0") for i in range(count)], shape, kind)
    return Array(list(struct.unpack(f"<{count}{_KINDS[kind]}", data)), shape, kind)


def write_npz(path, arrays):
    """Writes {name: array}, as np.savez() does. The same arrays make the same file."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            file.writestr(zipfile.ZipInfo(name + ".npy"), npy(array))  # of 1980


def read_npz(path):
    with zipfile.ZipFile(path) as file:
        return {name.removesuffix(".npy"): read_npy(file.read(name)) for name in file.namelist()}
