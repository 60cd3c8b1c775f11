"""Writes core/files/formats/testdata/torch_*.pth and models/testdata/osrci_cnn_{state,old,ema}.pth: files as torch.save()
lays them out, now and before PyTorch 1.6, made by Python's own pickle and zipfile.

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
    """`view`: (offset, number of elements) of a part, which PyTorch before 1.6 stored as a storage of its own."""

    def __init__(self, kind, values, view=None):
        self.kind, self.values, self.view = kind, values, view


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


def save_old(path, value):
    """The format before PyTorch 1.6."""
    keys = {}
    buffer = io.BytesIO()

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            if not isinstance(obj, Storage):
                return None
            key = keys.setdefault(id(obj.values), (str(94000 + len(keys)), obj))[0]
            view = None if obj.view is None else (f"{key}_view", *obj.view)
            return ("storage", getattr(torch, obj.kind), key, "cuda:0", len(obj.values), view)

    Pickler(buffer, 2).dump(value)
    with open(path, "wb") as file:
        pickle.dump(0x1950A86A20F9469CFC6C, file, 2)
        pickle.dump(1001, file, 2)
        sizes = {"short": 2, "int": 4, "long": 4}
        pickle.dump({"protocol_version": 1001, "little_endian": True, "type_sizes": sizes}, file, 2)
        file.write(buffer.getvalue())
        pickle.dump([key for key, _ in keys.values()], file, 2)
        for _, storage in keys.values():
            file.write(struct.pack("<q", len(storage.values)))
            file.write(struct.pack(f"<{len(storage.values)}{FORMATS[storage.kind]}", *storage.values))


class Linear:
    """Pickled like a torch.nn.Module."""

    def __init__(self, tensors):
        self.training = True
        self._parameters = tensors
        self._buffers, self._modules = collections.OrderedDict(), collections.OrderedDict()


Linear.__module__ = "my_networks"
sys.modules["my_networks"] = types.ModuleType("my_networks")
sys.modules["my_networks"].Linear = Linear


def tensors_of_safetensors(source):
    """The tensors of a safetensors file, which all are f32 or i64."""
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
    return tensors


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
    weights = collections.OrderedDict([("weight", Tensor(shared, 0, (3, 4), (4, 1)))])
    save(f"{folder}/torch_namespace.pth", {"model": weights, "epoch": 3, "args": argparse.Namespace(lr=0.1)})
    save(f"{folder}/torch_module.pth", Linear(weights))
    save(f"{folder}/torch_holds_module.pth", {"ema": Linear(weights), "epoch": 3})
    save(f"{folder}/torch_two_dicts.pth", {"student": weights, "teacher": weights, "epoch": 3})
    save(f"{folder}/torch_nested.pth", {"state": {"encoder": weights}, "epoch": 3})
    # As `tensors`, except that `row` lies in a view of the storage.
    old = collections.OrderedDict(tensors)
    old["row"] = Tensor(Storage("FloatStorage", shared.values, view=(2, 8)), 2, (4,), (1,))
    save_old(f"{folder}/torch_old.pth", old)
    save_old(f"{folder}/torch_old_module.pth", Linear(weights))
    save(f"{folder}/torch_no_tensors.pth", {"epoch": 3, "weight": Tensor(shared, 0, (1,), (1,))})


if __name__ == "__main__":
    main(sys.argv[1])
    network = tensors_of_safetensors(f"{sys.argv[2]}/osrci_cnn_parallel.safetensors")
    save(f"{sys.argv[2]}/osrci_cnn_state.pth", network)
    save_old(f"{sys.argv[2]}/osrci_cnn_old.pth", network)
    zeros = {name: Tensor(Storage("FloatStorage", [0.0] * len(tensor.arguments[0].values)), 0, *tensor.arguments[2:4])
             for name, tensor in network.items()}
    prefixed = {f"model.{name}": tensor for name, tensor in network.items()}
    save(f"{sys.argv[2]}/osrci_cnn_ema.pth", {"state_dict": zeros, "state_dict_ema": prefixed, "epoch": 3},
         compression=zipfile.ZIP_DEFLATED)
