"""Writes data/augment/testdata/pillow.npz: image operations as Pillow does them on 8-bit images.

    python3 tools/peers/make_rand_augment_golden.py data/augment/testdata/pillow.npz [--random=N --seed=S]

The stored file was made with Pillow 13.0.0 and NumPy 2.4.6 on x86-64. For each group G of images of one size the
archive holds `image/G` u8 [k, C, H, W], and for each operation O `O/G/case` f64 [n, 1 + number of parameters] (which
image; the parameters) and `O/G/expected` u8 [n, C, H, W]. --random makes, instead, about N cases of each operation with
random images and values.
"""

import argparse
import math

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

CUTOUT_COLOUR = (125, 123, 114)
NEAREST = Image.Resampling.NEAREST
BILINEAR = Image.Resampling.BILINEAR


def to_pillow(pixels):
    return Image.fromarray(pixels[0] if len(pixels) == 1 else np.ascontiguousarray(pixels.transpose(1, 2, 0)))


def from_pillow(image):
    pixels = np.asarray(image)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


def affine(*matrix, resample=NEAREST):
    return lambda image: image.transform(image.size, Image.Transform.AFFINE, matrix, resample=resample)


def solarize_add(image, addition):
    sums = np.asarray(image).astype(np.int64) + addition
    return ImageOps.solarize(Image.fromarray(np.clip(sums, 0, 255).astype(np.uint8)), 128)


def cutout(image, size, centre_x, centre_y):
    left = int(max(0, centre_x - size / 2.0))
    top = int(max(0, centre_y - size / 2.0))
    right = min(image.width, left + size)
    bottom = min(image.height, top + size)
    # Pillow takes no RGB colour for a grey image: its conversion to "L" is what the project defines.
    colour = CUTOUT_COLOUR
    if image.mode == "L":
        colour = Image.new("RGB", (1, 1), CUTOUT_COLOUR).convert("L").getpixel((0, 0))
    result = image.copy()
    ImageDraw.Draw(result).rectangle((left, top, right, bottom), colour)
    return result


def enhance(kind):
    return lambda image, factor: kind(image).enhance(factor)


OPERATIONS = {
    "autocontrast": lambda image: ImageOps.autocontrast(image),
    "equalize": lambda image: ImageOps.equalize(image),
    "invert": lambda image: ImageOps.invert(image),
    "posterize": lambda image, bits: ImageOps.posterize(image, int(bits)),
    "solarize": lambda image, threshold: ImageOps.solarize(image, threshold),
    "solarize_add": solarize_add,
    "color": enhance(ImageEnhance.Color),
    "contrast": enhance(ImageEnhance.Contrast),
    "brightness": enhance(ImageEnhance.Brightness),
    "sharpness": enhance(ImageEnhance.Sharpness),
    "cutout": cutout,
    "rotate": lambda image, degrees: image.rotate(degrees),
    "shear_x": lambda image, v: affine(1, v, 0, 0, 1, 0)(image),
    "shear_y": lambda image, v: affine(1, 0, 0, v, 1, 0)(image),
    "translate_x": lambda image, v: affine(1, 0, v, 0, 1, 0)(image),
    "translate_y": lambda image, v: affine(1, 0, 0, 0, 1, v)(image),
    "rotate_bilinear": lambda image, degrees: image.rotate(degrees, resample=BILINEAR),
    "shear_x_bilinear": lambda image, v: affine(1, v, 0, 0, 1, 0, resample=BILINEAR)(image),
    "shear_y_bilinear": lambda image, v: affine(1, 0, 0, v, 1, 0, resample=BILINEAR)(image),
    "translate_x_bilinear": lambda image, v: affine(1, 0, v, 0, 1, 0, resample=BILINEAR)(image),
    "translate_y_bilinear": lambda image, v: affine(1, 0, 0, 0, 1, v, resample=BILINEAR)(image),
}

ENHANCE = [0.0, 0.1, 0.46, 0.64, 0.15 * (1.9 - 0.1) + 0.1, 15 / 30 * (1.9 - 0.1) + 0.1, 1.18, 1.54, 1.9]
SHEAR = [-0.3, -0.06, 0.0, 0.09, 0.3]
TRANSLATE = [-100.0, -20.0, -3.5, 0.0, 0.5 - 2**-53, 0.5, 8 / 30 * 100, 30.0]
VALUES = {
    "autocontrast": [()] * 4,
    "equalize": [()] * 4,
    "invert": [()] * 4,
    "posterize": [1, 2, 3, 4, 8],
    "solarize": [0.0, 51.2, 76.8, 128.0, 256.0],
    "solarize_add": [0.0, 22.0, 29 + 1 / 3, 33.0 - 2**-47, 110.0],
    "color": ENHANCE,
    "contrast": ENHANCE,
    "brightness": ENHANCE,
    "sharpness": ENHANCE,
    # size in pixels, centre as a part of width and height
    "cutout": [(0.0, 0.2, 0.7), (8.0, 0.04, 0.1), (12.5, 0.51, 0.13), (12.0, 0.3, 0.99), (40.0, 0.4, 0.6), (3.0, 1.0, 1.0)],
    "rotate": [-30.0, -9.0, -1.25, 0.0, 6.0, 18.0, 30.0, 90.0, 180.0, 307.5],
    "shear_x": SHEAR,
    "shear_y": SHEAR,
    "translate_x": TRANSLATE,
    "translate_y": TRANSLATE,
    "rotate_bilinear": [-27.0, 0.0, 5.0, 90.0, 180.0],
    "shear_x_bilinear": [-0.3, 0.03, 0.2],
    "shear_y_bilinear": [-0.3, 0.03, 0.2],
    "translate_x_bilinear": [-9.0, 0.25, 3.0],
    "translate_y_bilinear": [-9.0, 0.25, 3.0],
}


def photo(channels, height, width, random):
    """A sky with a sun above a textured ground with a dark block: smooth parts, edges and noise."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    pixels = np.empty((channels, height, width))
    horizon = 0.55 * height + 0.06 * height * np.sin(2 * math.pi * x / width)
    sun = np.exp(-((x - 0.7 * width) ** 2 + (y - 0.25 * height) ** 2) / (0.02 * height * width))
    block = (abs(x - 0.3 * width) < 0.12 * width) & (abs(y - 0.65 * height) < 0.2 * height)
    for c in range(channels):
        sky = [110, 150, 205][c] + 60 * y / height + 90 * sun
        ground = [95, 120, 60][c] - 40 * (y / height - 0.5) + random.normal(0, 9, (height, width))
        pixels[c] = np.where(y < horizon, sky, ground)
        pixels[c][block] = [52, 38, 30][c]
    return np.clip(pixels, 0, 255).astype(np.uint8)


def noise(channels, height, width, random):
    return random.integers(0, 256, (channels, height, width), dtype=np.uint8)


def constant(channels, height, width, random):
    del random
    return np.broadcast_to(np.array([200, 17, 90][:channels], np.uint8)[:, None, None], (channels, height, width)).copy()


def two_valued(channels, height, width, random):
    low, high = np.array([40, 0, 99])[:channels, None, None], np.array([41, 255, 180])[:channels, None, None]
    return np.where(random.random((channels, height, width)) < 0.3, low, high).astype(np.uint8)


def stored_cases():
    random = np.random.default_rng(20220222)
    groups = {
        "rgb32x32": [make(3, 32, 32, random) for make in (photo, noise, constant, two_valued)],
        "rgb13x19": [make(3, 13, 19, random) for make in (photo, noise, two_valued)],
        "grey28x28": [make(1, 28, 28, random) for make in (photo, two_valued)],
        "rgb2x5": [noise(3, 2, 5, random)],
        "rgb3x3": [noise(3, 3, 3, random)],
        "grey1x1": [noise(1, 1, 1, random)],
    }
    cases = {}
    for operation, values in VALUES.items():
        for group, images in groups.items():
            if operation == "cutout":
                height, width = images[0].shape[1:]
                values = [(size, x * width, y * height) for size, x, y in VALUES[operation]]
            if group == "rgb32x32":  # the photograph and one of the others at each value
                pairs = [(i, v) for n, v in enumerate(values) for i in (0, 1 + n % 3)]
            else:
                pairs = [(n % len(images), v) for n, v in enumerate(values)]
            cases[operation, group] = pairs
    return groups, cases


def random_cases(count, seed):
    random = np.random.default_rng(seed)
    draw = {
        "posterize": lambda: int(random.integers(1, 9)),
        "solarize": lambda: random.uniform(0, 256),
        "solarize_add": lambda: random.uniform(0, 110),
    }
    for name in ("color", "contrast", "brightness", "sharpness"):
        draw[name] = lambda: random.uniform(0.0, 2.0)
    for suffix in ("", "_bilinear"):
        draw["rotate" + suffix] = lambda: random.uniform(-360, 360)
        for axis in "xy":
            draw["shear_" + axis + suffix] = lambda: random.uniform(-1, 1)
            draw["translate_" + axis + suffix] = lambda: random.uniform(-40, 40)

    def image(channels, height, width):
        kind = random.integers(0, 4)
        if kind < 3:
            return (photo, noise, two_valued)[kind](channels, height, width, random)
        low, high = sorted(random.integers(0, 256, 2))  # a narrow histogram
        return random.integers(low, high + 1, (channels, height, width)).astype(np.uint8)

    sizes = [(3, 32, 32), (1, 28, 28), (3, 17, 40), (3, 64, 64), (3, 5, 4)]
    groups = {f"random{c}x{h}x{w}": [image(c, h, w) for _ in range(max(1, count // len(sizes)))] for c, h, w in sizes}
    cases = {}
    for operation in OPERATIONS:
        value = draw.get(operation, lambda: ())
        for group, images in groups.items():
            if operation == "cutout":
                height, width = images[0].shape[1:]
                value = lambda: (random.uniform(0, 40), random.uniform(1, width), random.uniform(1, height))
            cases[operation, group] = [(i, value()) for i in range(len(images))]
    return groups, cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    groups, cases = random_cases(args.random, args.seed) if args.random else stored_cases()
    arrays = {f"image/{group}": np.stack(images) for group, images in groups.items()}
    for (operation, group), pairs in cases.items():
        values = [v if isinstance(v, tuple) else (v,) for _, v in pairs]
        expected = [
            from_pillow(OPERATIONS[operation](to_pillow(groups[group][i]), *v)) for (i, _), v in zip(pairs, values)
        ]
        prefix = f"{operation}/{group}/"
        arrays[prefix + "case"] = np.array([(i, *v) for (i, _), v in zip(pairs, values)], np.float64)
        arrays[prefix + "expected"] = np.stack(expected)
    np.savez_compressed(args.output, **arrays)


if __name__ == "__main__":
    main()
