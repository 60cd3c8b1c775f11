"""Writes core/files/formats/testdata/torch_*.pth and models/testdata/osrci_cnn_state.pth: archives as torch.save() lays them out,
made by Python's own pickle and zipfile.

Objects that are pickled like PyTorch's tensors replace these, so that it can also make cases that PyTorch never writes.
    python3 tools/peers/make_torch_files.py core/files/formats/testdata models/testdata
"""

import argparse
import collections
import io
import json
import pickle
import struct
import sys
import types
import zipfile

torch = types.ModuleType("torch")
utils = types.ModuleType("torch._utils")
sys.modules.update({"torch": torch, "torch._utils": utils})


def named(module, name):
    def function(*_):
        raise NotImplementedError
    function.__module__, function.__qualname__, function.__name__ = module.__name__, name, name
    setattr(module, name, function)
    return function


rebuild_tensor = named(utils, "_rebuild_tensor_v2")
rebuild_parameter = named(utils, "_rebuild_parameter")
FORMATS = {"FloatStorage": "f", "DoubleStorage": "d", "LongStorage": "q", "IntStorage": "i", "ByteStorage": "B",
           "BoolStorage": "?"}
for storage_name in FORMATS:
    setattr(torch, storage_name, type(storage_name, (), {"__module__": "torch"}))


class Storage:
    def __init__(self, kind, values):
        self.kind, self.values = kind, values


class Tensor:
    def __init__(self, storage, offset, shape, stride):
        self.arguments = (storage, offset, tuple(shape), tuple(stride), False, collections.OrderedDict())

    def __reduce__(self):
        return rebuild_tensor, self.arguments


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        return rebuild_parameter, (self.tensor, True, collections.OrderedDict())


def save(path, value, protocol=2, byteorder="little", damage=None, compression=zipfile.ZIP_STORED):
    keys = {}
    buffer = io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            if not isinstance(obj, Storage):
                return None
            key = keys.setdefault(id(obj), (str(len(keys)), obj))[0]
            return ("storage", getattr(torch, obj.kind), key, "cuda:0", len(obj.values))

    Pickler(buffer, protocol).dump(value)
    with zipfile.ZipFile(path, "w") as archive:
        def write(name, content):
            archive.writestr(zipfile.ZipInfo("archive/" + name), content, compression)
        write("data.pkl", buffer.getvalue())
        write("byteorder", byteorder)
        for key, storage in keys.values():
            content = struct.pack(f"<{len(storage.values)}{FORMATS[storage.kind]}", *storage.values)
            write(f"data/{key}", content[:damage])


def save_safetensors_as_pth(source, target):
    """The tensors of a safetensors file, which all are f32 or i64, as a state dict."""
    with open(source, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    tensors = collections.OrderedDict()
    for name, entry in json.loads(content[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        kind, code, bytes_each = {"F32": ("FloatStorage", "f", 4), "I64": ("LongStorage", "q", 8)}[entry["dtype"]]
        values = struct.unpack(f"<{(end - begin) // bytes_each}{code}", content[begin:end])
        stride, step = [], 1
        for length in reversed(entry["shape"]):
            stride.insert(0, step)
            step *= length
        tensors[name] = Tensor(Storage(kind, list(values)), 0, entry["shape"], stride)
    save(target, tensors)


def main(folder):
    shared = Storage("FloatStorage", [float(i) for i in range(12)])
    tensors = collections.OrderedDict([
        ("whole", Tensor(shared, 0, (3, 4), (4, 1))),
        ("transposed", Tensor(shared, 0, (4, 3), (1, 4))),
        ("row", Tensor(shared, 4, (4,), (1,))),
        ("parameter", Parameter(Tensor(Storage("DoubleStorage", [0.5, -0.25]), 0, (2,), (1,)))),
        ("count", Tensor(Storage("LongStorage", [7]), 0, (), ())),
        ("mask", Tensor(Storage("BoolStorage", [True, False, True]), 0, (3,), (1,))),
        ("none", Tensor(Storage("FloatStorage", []), 0, (0, 3), (3, 1))),
    ])
    save(f"{folder}/torch_state.pth", tensors)
    save(f"{folder}/torch_checkpoint.pth", {"epoch": 5, "state_dict": tensors, "best": 0.5, "names": ["a", ("b", None)]},
         protocol=4)
    save(f"{folder}/torch_object.pth", {"weight": Tensor(shared, 0, (1,), (1,)), "arguments": argparse.Namespace(lr=0.1)})
    save(f"{folder}/torch_outside.pth", {"weight": Tensor(shared, 9, (4,), (1,))})
    save(f"{folder}/torch_expanded.pth", {"weight": Tensor(shared, 0, (1 << 40,), (0,))})
    save(f"{folder}/torch_big_endian.pth", {"weight": Tensor(shared, 0, (1,), (1,))}, byteorder="big")
    save(f"{folder}/torch_short.pth", {"weight": Tensor(shared, 0, (12,), (1,))}, damage=40)
    # 1,100 tensors in one storage of 1 MB.
    large = Tensor(Storage("FloatStorage", [0.0] * (1 << 18)), 0, (1 << 18,), (1,))
    save(f"{folder}/torch_shared.pth", {f"t{i}": large for i in range(1100)}, compression=zipfile.ZIP_DEFLATED)
    save(f"{folder}/torch_no_tensors.pth", {"epoch": 3, "weight": Tensor(shared, 0, (1,), (1,))})


if __name__ == "__main__":
    main(sys.argv[1])
    save_safetensors_as_pth(f"{sys.argv[2]}/osrci_cnn_parallel.safetensors", f"{sys.argv[2]}/osrci_cnn_state.pth")
