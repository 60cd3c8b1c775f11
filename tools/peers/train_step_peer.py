"""Measures the images per second of training steps (batches of 128 images of 32x32) in PyTorch and in this project, in
one run.

    bazel build //experiments/train:step_benchmark
    python3 tools/peers/train_step_peer.py --step_benchmark=bazel-bin/experiments/train/step_benchmark \
        [--networks=osrci_cnn,resnet20,vgg32] [--layouts=eager,channels_last,compile] [--precision=fp32|bf16] [--threads=2] \
        [--rounds=5] [--json]

Both sides: the same network with a linear head of 6 classes, forward pass, cross entropy, backward pass, SGD with momentum
0.9 and weight decay 1e-4. Ours are steps of TrainingRun, with its batches made during the steps; PyTorch steps on one batch
that is there, with its default settings (eager), with images and weights in the channels-last layout (channels_last), or
that compiled by torch.compile (compile), and in BF16 by torch.autocast. With --augmented, PyTorch's images are instead augmented one by one with Pillow
(RandAugment with N = 1 and M = 9, random crop with padding 4, flip, normalise) in a DataLoader with 0 and with 2 worker
processes, and ours by their own augmentation. All sides take turns in each round. Printed are each side's median and range,
and the median of the rounds' ratios of ours to the best of PyTorch. The limit is a step that takes no more time than
large convolutions with as many floating-point operations as its convolutions and products have. Needs torch, numpy and Pillow;
made for PyTorch 2.11.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

import networks

BATCH = 128
CLASSES = 6
LIMIT = "limit"
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
    """Smooth random images, already decoded: neither reading nor decoding is measured."""

    def __init__(self, count):
        noise = np.random.default_rng(1).integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)
        self.images = [np.asarray(Image.fromarray(image).resize((32, 32), Image.Resampling.BICUBIC)) for image in noise]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return augment(Image.fromarray(self.images[index])), index % CLASSES


def new_network(name):
    if name == "vgg32":
        return networks.Network(networks.Vgg32(), CLASSES)
    return networks.Network({"osrci_cnn": networks.OsrciCnn, "resnet20": networks.Resnet20}[name](), CLASSES)


def calls_per_second(call, seconds, warm_up):
    for _ in range(warm_up):
        call()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        call()
        calls += 1
    return calls / (time.perf_counter() - start)


class Trainer:
    """Steps of one network in one layout, which stays warm between rounds."""

    def __init__(self, name, layout, precision="fp32"):
        torch.manual_seed(1)
        self.is_bf16 = precision == "bf16"
        self.format = torch.contiguous_format if layout == "eager" else torch.channels_last
        self.network = new_network(name).to(memory_format=self.format)
        self.optimizer = torch.optim.SGD(self.network.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
        self.forward = torch.compile(self.network) if layout == "compile" else self.network

    def step(self, image, label):
        self.optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.is_bf16):
            loss = functional.cross_entropy(self.forward(image.contiguous(memory_format=self.format))[1], label)
        loss.backward()
        self.optimizer.step()

    def images_per_second(self, batches, seconds, warm_up=2):
        batches = iter(batches)
        return BATCH * calls_per_second(lambda: self.step(*next(batches)), seconds, warm_up)


def fixed_batches(format):
    image = torch.randn(BATCH, 3, 32, 32).contiguous(memory_format=format)
    label = torch.arange(BATCH) % CLASSES
    while True:
        yield image, label


def loader(workers, images=20 * BATCH):
    data = torch.utils.data.DataLoader(Images(images), BATCH, shuffle=True, num_workers=workers,
                                       persistent_workers=workers > 0)
    while True:
        yield from data


def ours(binary, name, threads):  # name: of the benchmark
    command = [binary, "--benchmark_format=json", f"--benchmark_filter=^TrainStep/{name}/threads:{threads}/"]
    runs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["benchmarks"]
    if len(runs) != 1:
        raise SystemExit(f"{command[-1]} selects {len(runs)} benchmarks of {binary}, not 1")
    return runs[0]["images_per_second"]


def operations_per_image(name):
    """Floating-point operations of the convolutions and products in a training step."""
    trainer = Trainer(name, "eager")
    with FlopCounterMode(display=False) as counter:
        trainer.step(*next(fixed_batches(trainer.format)))
    return counter.get_total_flops() / BATCH


def operations_per_second(seconds, precision, channels=128, size=16):
    """The rate of a convolution that is large enough to keep all multipliers of the processor busy."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    image = torch.randn(BATCH, channels, size, size, dtype=dtype).contiguous(memory_format=torch.channels_last)
    weight = torch.randn(channels, channels, 3, 3, dtype=dtype).contiguous(memory_format=torch.channels_last)
    passes = calls_per_second(lambda: functional.conv2d(image, weight, padding=1), seconds, warm_up=1)
    return passes * 2 * 9 * channels ** 2 * BATCH * size ** 2


def compare(sides, rounds):
    """{name: [rate of each round]} of {name: function}; the functions run in turn."""
    rates = {name: [] for name in sides}
    for _ in range(rounds):
        for name, measure in sides.items():
            rates[name].append(measure())
    return rates


def steps(options, name):
    benchmark = name + ("_bf16" if options.precision == "bf16" else "")
    sides = {"openset": lambda: ours(options.step_benchmark, benchmark, options.threads)}
    for layout in options.layouts.split(","):
        trainer = Trainer(name, layout, options.precision)
        try:
            trainer.images_per_second(fixed_batches(trainer.format), 0)
        except Exception as error:  # torch.compile needs a compiler and Python's headers
            print(f"{name}: PyTorch {layout} does not run here: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        sides[f"PyTorch {layout}"] = lambda t=trainer: t.images_per_second(fixed_batches(t.format), options.seconds)
    operations = operations_per_image(name)
    sides[LIMIT] = lambda: operations_per_second(options.seconds, options.precision) / operations
    return compare(sides, options.rounds)


def augmented(options, name):
    sides = {"openset": lambda: ours(options.step_benchmark, name + "_rand_augment", options.threads)}
    for workers in (0, 2):
        trainer, batches = Trainer(name, "channels_last"), loader(workers)
        sides[f"PyTorch, {workers} workers"] = (
            lambda t=trainer, b=batches: t.images_per_second(b, options.seconds, warm_up=4))
    return compare(sides, options.rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step_benchmark", required=True)
    parser.add_argument("--networks", default="osrci_cnn,resnet20,vgg32")
    parser.add_argument("--layouts", default="eager,channels_last,compile")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--augmented", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of PyTorch's steps in a round")
    parser.add_argument("--json", action="store_true", help="the rates of all rounds, for tools/benchmarks.py")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rates = {name: augmented(options, name) if options.augmented else steps(options, name)
             for name in options.networks.split(",")}
    if options.json:
        print(json.dumps(rates))
        return
    for name, of_sides in rates.items():
        for side, rate in of_sides.items():
            print(f"{name}, {side}: {statistics.median(rate):.0f} images/s ({min(rate):.0f} to {max(rate):.0f})")
        peers = [rate for side, rate in of_sides.items() if side not in ("openset", LIMIT)]
        ratios = [own / max(best) for own, best in zip(of_sides["openset"], zip(*peers))]
        print(f"{name}, openset / best of PyTorch: {statistics.median(ratios):.2f} "
              f"({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
