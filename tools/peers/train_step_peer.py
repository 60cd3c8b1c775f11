"""Images per second of training vgg32 (fp32, batches of 128 images of 32x32) in PyTorch and in this project, in one run.

    python3 tools/peers/train_step_peer.py --step_benchmark=bazel-bin/models/model_benchmark \
        [--augment_benchmark=BINARY --augment_filter=REGEX] [--threads=2] [--rounds=5] [--steps=8]

PyTorch runs in its default memory layout with its default settings: forward pass, cross entropy, backward pass and
SGD. Its images are augmented one by one with Pillow (RandAugment with N = 1 and M = 9, random crop with padding 4,
flip, normalise) in a DataLoader, with 0 and with 2 worker processes. Ours are the `items_per_second` of Google
Benchmark: the training step and, where it is named, the augmentation, one after the other on the same threads. The two
sides take turns; the last lines give the ratio of the medians and the median of the ratios of each round. Needs torch,
numpy and Pillow; made for PyTorch 2.11.
"""

import argparse
import json
import random
import statistics
import subprocess
import time

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch.nn import functional

import networks

BATCH = 128
CLASSES = 6
MEAN = torch.tensor([0.4914, 0.4822, 0.4465]).view(3, 1, 1)
STD = torch.tensor([0.2023, 0.1994, 0.2010]).view(3, 1, 1)


def affine(image, matrix):
    return image.transform(image.size, Image.Transform.AFFINE, matrix)


def signed(value):
    return value if random.random() < 0.5 else -value


def cutout(image, size):
    x, y = random.uniform(0, image.width), random.uniform(0, image.height)
    box = [max(0, x - size / 2), max(0, y - size / 2), min(image.width, x + size / 2), min(image.height, y + size / 2)]
    image = image.copy()
    ImageDraw.Draw(image).rectangle(box, (125, 123, 114))
    return image


def solarize_add(image, value):
    return image.point([min(255, i + int(value)) if i < 128 else i for i in range(256)] * 3)


# Operation, and its value at magnitudes 0 and 30.
OPERATIONS = [
    (lambda image, v: ImageOps.autocontrast(image), 0, 1),
    (lambda image, v: ImageOps.equalize(image), 0, 1),
    (lambda image, v: ImageOps.invert(image), 0, 1),
    (lambda image, v: image.rotate(signed(v)), 0, 30),
    (lambda image, v: ImageOps.posterize(image, max(1, int(v))), 0, 4),
    (lambda image, v: ImageOps.solarize(image, v), 0, 256),
    (solarize_add, 0, 110),
    (lambda image, v: ImageEnhance.Color(image).enhance(v), 0.1, 1.9),
    (lambda image, v: ImageEnhance.Contrast(image).enhance(v), 0.1, 1.9),
    (lambda image, v: ImageEnhance.Brightness(image).enhance(v), 0.1, 1.9),
    (lambda image, v: ImageEnhance.Sharpness(image).enhance(v), 0.1, 1.9),
    (lambda image, v: affine(image, (1, signed(v), 0, 0, 1, 0)), 0, 0.3),
    (lambda image, v: affine(image, (1, 0, 0, signed(v), 1, 0)), 0, 0.3),
    (cutout, 0, 40),
    (lambda image, v: affine(image, (1, 0, signed(v), 0, 1, 0)), 0, 100),
    (lambda image, v: affine(image, (1, 0, 0, 0, 1, signed(v))), 0, 100),
]


def augment(image, magnitude=9):
    operation, low, high = random.choice(OPERATIONS)
    image = operation(image, magnitude / 30 * (high - low) + low)
    image = ImageOps.expand(image, 4)
    x, y = random.randint(0, 8), random.randint(0, 8)
    image = image.crop((x, y, x + 32, y + 32))
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()
    return pixels.float().div_(255).sub_(MEAN).div_(STD)


class Images(torch.utils.data.Dataset):
    """Smooth random images, decoded: neither reading nor decoding is measured."""

    def __init__(self, count):
        noise = np.random.default_rng(1).integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)
        self.images = [np.asarray(Image.fromarray(image).resize((32, 32), Image.Resampling.BICUBIC)) for image in noise]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return augment(Image.fromarray(self.images[index])), index % CLASSES


class Trainer:
    def __init__(self):
        torch.manual_seed(1)
        self.network = networks.Network(networks.Vgg32(), CLASSES, bias=False)
        self.optimizer = torch.optim.SGD(self.network.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)

    def step(self, image, label):
        self.optimizer.zero_grad()
        functional.cross_entropy(self.network(image)[1], label).backward()
        self.optimizer.step()


def images_per_second(batches, steps, warm_up=2):
    """Of `steps` training steps on the batches that follow the first `warm_up`."""
    trainer = Trainer()
    batches = iter(batches)
    for _ in range(warm_up):
        trainer.step(*next(batches))
    start = time.perf_counter()
    for _ in range(steps):
        trainer.step(*next(batches))
    return steps * BATCH / (time.perf_counter() - start)


def fixed_batches():
    image, label = torch.randn(BATCH, 3, 32, 32), torch.arange(BATCH) % CLASSES
    while True:
        yield image, label


def loader(workers, steps):
    # More batches than steps: workers run ahead, before what is measured and at its end alike.
    return torch.utils.data.DataLoader(Images((10 + steps) * BATCH), BATCH, shuffle=True, num_workers=workers)


def benchmark(binary, name_filter):
    command = [binary, "--benchmark_format=json", "--benchmark_filter=" + name_filter, "--benchmark_min_time=2"]
    runs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["benchmarks"]
    if len(runs) != 1:
        raise SystemExit(f"--benchmark_filter={name_filter} selects {len(runs)} benchmarks of {binary}, not 1")
    return runs[0]["items_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step_benchmark", required=True)
    parser.add_argument("--augment_benchmark")
    parser.add_argument("--augment_filter", default=".*")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    ours = f"openset {'with' if options.augment_benchmark else 'without'} augmentation"
    rates = {name: [] for name in ["PyTorch without augmentation", "PyTorch, 0 workers", "PyTorch, 2 workers", ours]}
    for number in range(options.rounds):
        step = benchmark(options.step_benchmark, f"BM_Vgg32TrainStep/channels_last:1/threads:{options.threads}/")
        if options.augment_benchmark:
            step = 1 / (1 / step + 1 / benchmark(options.augment_benchmark, options.augment_filter))
        rates[ours].append(step)
        rates["PyTorch without augmentation"].append(images_per_second(fixed_batches(), options.steps))
        for workers in (0, 2):
            rates[f"PyTorch, {workers} workers"].append(
                images_per_second(loader(workers, options.steps), options.steps))
        print(f"round {number + 1}: " + ", ".join(f"{name} {rate[-1]:.1f}" for name, rate in rates.items()), flush=True)

    for name, rate in rates.items():
        print(f"{name}: {statistics.median(rate):.1f} images/s (best {max(rate):.1f})")
    peer = [max(pair) for pair in zip(rates["PyTorch, 0 workers"], rates["PyTorch, 2 workers"])]
    ratios = [a / b for a, b in zip(rates[ours], peer)]
    print(f"{ours} / PyTorch with augmentation, the better of 0 and 2 workers: "
          f"{statistics.median(rates[ours]) / statistics.median(peer):.2f} by medians, "
          f"{statistics.median(ratios):.2f} by rounds ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
