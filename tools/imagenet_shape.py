#!/usr/bin/env python3
"""Runs `openset score --task=openood_imagenet_1k` on a made-up tree of ImageNet's shape, and projects time and memory.

    python3 tools/imagenet_shape.py --openset=bazel-bin/tools/openset [--size=224] [--fit=10] [--test=5] [--classes=4]

The tree has OpenOOD's folders and lists with as many lines as the real ones: 50 training images in each of 1,000
folders, the 45,000 known test images, and the five unknown sets. The files are links to a few small images. A ResNet-18
with made-up weights passes over --fit and --test images of each class and set, once for scores that are not fitted and
once for six. Prints what was measured, and what all images take if each takes as long as here, the start included, and
if 512 features and 1,000 logits of each are in memory. --classes is for a test of seconds: the task and its data sets with
the first classes and 20 unknown images of each set, in a library of their own.
"""
import argparse
import array
import json
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zlib

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
TASK = "openood_imagenet_1k"
UNKNOWN = ("ssb_hard", "ninco", "inaturalist_ood", "textures_ood", "openimage_o")
# Of the fitted scores, those that don't need networks that classify well: she needs a correct image of each class.
METHODS = ("mcp", "max_logit"), ("mcp", "max_logit", "knn", "react", "mahalanobis", "nci")


def read(kind, name):
    with open(os.path.join(DATA, kind, name + ".textproto"), encoding="utf-8") as file:
        return file.read()


def small_catalog(text, classes):
    """The data set small_NAME with the first classes, or, of one class, with 20 images in each part."""
    names = re.findall(r"^class_name: .*\n", text, re.M)
    for line in names[classes:] + re.findall(r"^class_title: .*\n", text, re.M)[classes:]:
        text = text.replace(line, "", 1)

    def counts(found):
        of_class = int(found.group(2)) if len(names) > 1 else 20
        return f"samples: {of_class * min(classes, len(names))}\n    samples_per_class: {of_class}"

    text = re.sub(r"\bsamples: (\d+)\s+samples_per_class: (\d+)", counts, text)
    return text.replace('\nname: "', '\nname: "small_', 1)


def small_task(text, classes):
    known = ", ".join(str(i) for i in range(classes))
    text = re.sub(r"known: \[[^]]*\]", f"known: [{known}]", text)
    text = re.sub(r'data_set: "(imagenet|' + "|".join(UNKNOWN) + ')"', r'data_set: "small_\1"', text)
    return text.replace(f'name: "{TASK}"', f'name: "small_{TASK}"')


def write_library(folder, classes):
    """Returns the task's file."""
    texts = {f"catalog/small_{name}": small_catalog(read("catalog", name), classes) for name in ("imagenet",) + UNKNOWN}
    texts[f"tasks/small_{TASK}"] = small_task(read("tasks", TASK), classes)
    for name, text in texts.items():
        path = os.path.join(folder, name + ".textproto")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return path


def part(text, name):
    """(samples, folder, list) of a part with a list."""
    found = text[text.index(f'name: "{name}"'):]
    return (int(re.search(r"samples: (\d+)", found).group(1)), re.search(r'path: "([^"]+)"', found).group(1),
            re.search(r'list \{ path: "([^"]+)"', found).group(1))


def write_image(path, number):
    """A PNG file, whatever its name: 48 x 40 pixels of stripes."""
    rows = b"".join(b"\0" + bytes((x * (number + 3) + y * number + 40 * c) % 256 for x in range(48) for c in range(3))
                    for y in range(40))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 48, 40, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Links:
    """Links to made-up images, of which each takes 30,000 at most."""

    def __init__(self, folder):
        self.folder, self.made = folder, 0

    def add(self, path):
        source = os.path.join(self.folder, f"image{self.made % 8}_{self.made // 200000}.png")
        if not os.path.exists(source):
            write_image(source, self.made % 8)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.link(source, path)
        self.made += 1


def make_tree(folder, catalog):
    links = Links(folder)
    imagenet = catalog("imagenet")
    classes = re.findall(r'class_name: "(n\d+)"', imagenet)
    for wnid in classes:
        for i in range(50):
            links.add(os.path.join(folder, "imagenet", "train", wnid, f"{wnid}_{i}.JPEG"))
    sets = [part(imagenet, "openood_test") + (len(classes),)] + [part(catalog(name), "test") + (1,) for name in UNKNOWN]
    for number, (samples, images, path, labels) in enumerate(sets):
        lines = []
        for i in range(samples):
            name = f"set{number}/{i // 5000}/{i}.JPEG"
            links.add(os.path.join(folder, images, name))
            lines.append(f"{name} {i * labels // samples if labels > 1 else -1}\n")
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.writelines(lines)
    return len(classes), [samples for samples, *_ in sets]


def write_weights(path, classes):
    """torchvision's resnet18, with drawn weights."""
    shapes = {"conv1.weight": (64, 3, 7, 7), "fc.weight": (classes, 512), "fc.bias": (classes,)}
    norms = {"bn1": 64}
    inner = 64
    for layer, width in enumerate((64, 128, 256, 512), 1):
        for block in range(2):
            before = f"layer{layer}.{block}."
            shapes[before + "conv1.weight"] = (width, inner, 3, 3)
            shapes[before + "conv2.weight"] = (width, width, 3, 3)
            norms[before + "bn1"] = norms[before + "bn2"] = width
            if inner != width:
                shapes[before + "downsample.0.weight"] = (width, inner, 1, 1)
                norms[before + "downsample.1"] = width
            inner = width
    for name, width in norms.items():
        shapes.update({f"{name}.{of}": (width,) for of in ("weight", "bias", "running_mean", "running_var")})
    draws = random.Random(1)
    noise = [draws.gauss(0, 1) for _ in range(8191)]
    header, data = {}, bytearray()
    for name, shape in shapes.items():
        count, inputs = 1, 1
        for place, size in enumerate(shape):
            count *= size
            inputs *= size if place else 1
        if len(shape) == 1:
            values = array.array("f", [1.0 if name.endswith(("weight", "var")) else 0.0]) * count
        else:
            scale = (2 / inputs)**0.5
            scaled = array.array("f", [scale * x for x in noise])
            values = (scaled * (count // len(scaled) + 1))[:count]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def run(words, folder):
    """(seconds, the report's rows)"""
    start = time.monotonic()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return time.monotonic() - start, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openset", required=True)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--fit", type=int, default=10)
    parser.add_argument("--test", type=int, default=5)
    parser.add_argument("--classes", type=int, default=0)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.openset)
    with tempfile.TemporaryDirectory(prefix="openset-imagenet-") as folder:
        start = time.monotonic()
        few = arguments.classes
        task = write_library(folder, few) if few else TASK
        classes, samples = make_tree(
            folder, lambda name: small_catalog(read("catalog", name), few) if few else read("catalog", name))
        write_weights(os.path.join(folder, "net.safetensors"), classes)
        print(f"tree: {classes} classes, {50 * classes} training images, {samples[0]} known and {sum(samples[1:])} "
              f"unknown test images, made in {time.monotonic() - start:.0f} s")
        passed = [arguments.test * classes + sum(min(arguments.test, count) for count in samples[1:]),
                  arguments.fit * classes]
        seconds, shown = [], ""
        for number, methods in enumerate(METHODS):
            size = [f"--size={arguments.size}"] if arguments.size != 224 else []
            took, shown = run([program, "score", "--model=net.safetensors", "--network=resnet18",
                               f"--task={task}", f"--data={folder}", f"--store=store{number}",
                               f"--methods={','.join(methods)}", f"--test_limit={arguments.test}",
                               f"--train_limit={arguments.fit}", *size], folder)
            seconds.append(took)
        missing = [method for method in METHODS[1] if not re.search(rf"(?m)^\s*{method}\b.*\d", shown)]
        if missing:
            sys.exit(f"no row for {', '.join(missing)}:\n{shown}")
        print(shown)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        real = sum(samples) + 50 * classes
        per_image, kept = seconds[1] / sum(passed), real * 4 * (1000 + 512) / 2**20
        print(f"measured at size {arguments.size}: {passed[0]} test images in {seconds[0]:.0f} s without a fit; with "
              f"{passed[1]} images to fit to {seconds[1]:.0f} s; the largest process took {peak:.0f} MB")
        print(f"projected to {real} images: {real * per_image / 60:.0f} minutes, {peak + kept:.0f} MB")


if __name__ == "__main__":
    main()
