"""Reads a folder of images with torchvision and with this project, alternately, and compares speed and images.

    bazel build //tools/peers:image_folder
    python3 tools/peers/image_folder_peer.py FOLDER --image_folder=bazel-bin/tools/peers/image_folder [--rounds=5]
    python3 tools/peers/image_folder_peer.py FOLDER --index        # how long it takes to find the images
    python3 tools/peers/image_folder_peer.py FOLDER --make=1200000 # an empty file each, 1,200 in a folder, to index

torchvision: ImageFolder with Resize((224, 224)) and ToTensor, and a DataLoader with 2 workers; ours: the batches that a
training gets, with 2 threads. Both give f32 [64, 3, 224, 224] in [0, 1]; a round starts new workers and a new process.
Rounds alternate; the ratio is between the medians. The sums of the means of each batch's first image may differ by a
level of 255 at most. With --index ours is measured twice, the second time with what it remembers; it also reads the
size of every file (to detect changes of the folder), and `of_it_described` is the time without that. Needs torch and
torchvision.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

BATCH = 64
SIZE = 224


def make(folder, files):
    for i in range(files):
        path = os.path.join(folder, f"class{i // 1200:04d}")
        if i % 1200 == 0:
            os.makedirs(path)
        open(os.path.join(path, f"n01440764_{i % 1200:05d}.JPEG"), "w").close()


def torchvision_round(folder):
    import torch
    from torchvision import datasets, transforms

    begin = time.monotonic()
    transform = transforms.Compose([transforms.Resize((SIZE, SIZE)), transforms.ToTensor()])
    images = datasets.ImageFolder(folder, transform)
    total = 0.0
    for batch, _ in torch.utils.data.DataLoader(images, BATCH, num_workers=2):
        total += batch[0].mean().item()
    return {"images": len(images), "seconds": time.monotonic() - begin, "first_of_each_batch": total}


def torchvision_index(folder):
    from torchvision import datasets

    begin = time.monotonic()
    images = datasets.ImageFolder(folder)
    seconds = time.monotonic() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"images": len(images), "seconds": seconds, "peak_mb": peak}


def ours(arguments, *more):
    return json.loads(subprocess.check_output([arguments.image_folder, arguments.folder, *more]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--image_folder", default="bazel-bin/tools/peers/image_folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--make", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.folder, arguments.make)
        return 0
    if arguments.index:
        for _ in range(2):
            print("openset:    ", ours(arguments, "--index"))
        print("torchvision:", torchvision_index(arguments.folder))
        return 0
    rates = {"openset": [], "torchvision": []}
    worst = 0.0
    for _ in range(arguments.rounds):
        results = {"torchvision": torchvision_round(arguments.folder), "openset": ours(arguments)}
        for name, result in results.items():
            rates[name].append(result["images"] / result["seconds"])
        batches = -(-results["openset"]["images"] // BATCH)
        difference = results["openset"]["first_of_each_batch"] - results["torchvision"]["first_of_each_batch"]
        worst = max(worst, 255 * abs(difference) / batches)
        print({name: round(rate[-1], 1) for name, rate in rates.items()}, "images/s")
    median = {name: statistics.median(rate) for name, rate in rates.items()}
    print(f"openset {median['openset']:.0f} images/s, torchvision {median['torchvision']:.0f}: "
          f"{median['openset'] / median['torchvision']:.2f} times; mean difference {worst:.3f} levels of 255")
    return 0 if worst <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
