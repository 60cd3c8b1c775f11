"""Converts the released ResNet-20 of CIFAR-10 to a safetensors file that openset reads.

    python3 results/released_cifar10/convert.py resnet20-12fca82f.th DATA/released_resnet20/resnet20.safetensors

The first file is pretrained_models/resnet20-12fca82f.th of https://github.com/akamaster/pytorch_resnet_cifar10. torch.save()
wrote it in its format before PyTorch 1.6: pickles, then the numbers of each storage. This script runs no code of the
file: it refuses every name in the pickles but those of tensors.

Where the network's shape changes, its shortcut takes every second pixel and puts zeros around the channels. That is a
1 x 1 convolution of stride 2 whose weights are 0 and 1, and a batch norm that changes nothing.
"""

import array
import collections
import hashlib
import json
import pickle
import struct
import sys

SHA256 = "12fca82f0bebc4135bf1f32f6e3710e61d5108578464b84fd6d7f5c1b04036c8"
CODES = {"FloatStorage": "f", "LongStorage": "q"}
EPSILON = 1e-5  # of PyTorch's batch norm


class Tensor(collections.namedtuple("Tensor", "storage offset shape stride")):
    """A part of a storage."""


class Reader(pickle.Unpickler):
    """Reads tensors and dicts, and nothing else."""

    storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, stride, *rest: Tensor(storage, offset, shape, stride)
        if module == "torch" and name in CODES:
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is not a tensor")

    def persistent_load(self, saved):
        kind, code, key, _, count = saved[:5]
        assert kind == "storage"
        return self.storages.setdefault(key, [CODES[code], count, None])


def read_tensors(path):
    """Names and (shape, array) of the tensors in `path`."""
    with open(path, "rb") as file:
        content = file.read()
        if hashlib.sha256(content).hexdigest() != SHA256:
            sys.exit(f"{path}: is not resnet20-12fca82f.th")
        file.seek(0)
        for _ in range(3):  # a magic number, the format's version, the machine
            Reader(file).load()
        state = Reader(file).load()["state_dict"]
        for key in Reader(file).load():
            storage = Reader.storages[key]
            size, = struct.unpack("<q", file.read(8))
            assert size == storage[1]
            numbers = array.array(storage[0])
            numbers.frombytes(file.read(size * numbers.itemsize))
            storage[2] = numbers
    tensors = {}
    for name, tensor in state.items():
        count = 1
        for extent, step in zip(reversed(tensor.shape), reversed(tensor.stride)):
            assert extent == 1 or step == count, f"{name} is not contiguous"
            count *= extent
        tensors[name] = (list(tensor.shape), tensor.storage[2][tensor.offset:tensor.offset + count])
    return tensors


def selection(inputs, outputs):
    """The weights of a 1 x 1 convolution that puts `inputs` channels in the middle of `outputs`."""
    weights = array.array("f", bytes(4 * inputs * outputs))
    for channel in range(inputs):
        weights[(channel + outputs // 4) * inputs + channel] = 1
    return weights


def main(source, target):
    tensors = {}
    for name, (shape, numbers) in read_tensors(source).items():
        if numbers.typecode == "f":
            tensors[name.removeprefix("module.").replace("linear.", "fc.")] = (shape, numbers)
    for stage, inputs in (("layer2", 16), ("layer3", 32)):
        outputs = 2 * inputs
        tensors[f"{stage}.0.downsample.0.weight"] = ([outputs, inputs, 1, 1], selection(inputs, outputs))
        for name, value in (("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1 - EPSILON)):
            tensors[f"{stage}.0.downsample.1.{name}"] = ([outputs], array.array("f", [value] * outputs))
    header, position = {}, 0
    for name in sorted(tensors):
        shape, numbers = tensors[name]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [position, position + 4 * len(numbers)]}
        position += 4 * len(numbers)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in sorted(tensors):
            file.write(tensors[name][1].tobytes())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
