"""Writes data/augment/testdata/aug_mix.npz: images mixed by AugMix with Pillow's operations, for given draws.

    python3 tools/peers/make_aug_mix_golden.py data/augment/testdata/aug_mix.npz

The stored file was made with Pillow 13.0.0 and NumPy 2.4.6 on x86-64. For each group G of images of one size it holds
`G/image` u8 [n, C, H, W], `G/coefficient` i64 [n, W] (of each of W chains, in units of 2^-20; the image itself has the
rest), `G/op` i64 [n, W, D] (the operation in the order below, -1 after the last of a chain), `G/level` f64 [n, W, D],
`G/negative` i64 [n, W, D] and `G/expected` u8 [n, C, H, W].
"""

import argparse
from fractions import Fraction

import numpy as np
from PIL import ImageOps

from make_rand_augment_golden import BILINEAR, affine, from_pillow, noise, photo, to_pillow, two_valued

WIDTH = 3
DEPTH = 3


def whole(level, most, _sign=1):
    return int(level * most / 10)


OPERATIONS = [
    lambda image, level, sign: ImageOps.autocontrast(image),
    lambda image, level, sign: ImageOps.equalize(image),
    lambda image, level, sign: ImageOps.posterize(image, 4 - whole(level, 4)),
    lambda image, level, sign: image.rotate(sign * whole(level, 30), resample=BILINEAR),
    lambda image, level, sign: ImageOps.solarize(image, 256 - whole(level, 256)),
    lambda image, level, sign: affine(1, sign * level * 0.3 / 10, 0, 0, 1, 0, resample=BILINEAR)(image),
    lambda image, level, sign: affine(1, 0, 0, sign * level * 0.3 / 10, 1, 0, resample=BILINEAR)(image),
    lambda image, level, sign: affine(1, 0, sign * whole(level, image.width / 3), 0, 1, 0, resample=BILINEAR)(image),
    lambda image, level, sign: affine(1, 0, 0, 0, 1, sign * whole(level, image.height / 3), resample=BILINEAR)(image),
]


def mixed(image, coefficient, op, level, negative):
    total = (2**20 - int(coefficient.sum())) * image.astype(np.int64)
    for i in range(WIDTH):
        chained = to_pillow(image)
        for k in range(DEPTH):
            if op[i, k] >= 0:
                chained = OPERATIONS[op[i, k]](chained, float(level[i, k]), -1 if negative[i, k] else 1)
        total += int(coefficient[i]) * from_pillow(chained).astype(np.int64)
    # Exactly, halves up.
    half = Fraction(1, 2)
    return np.array([int(Fraction(int(value), 2**20) + half) for value in total.ravel()], np.uint8).reshape(image.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    path = parser.parse_args().output
    random = np.random.default_rng(20200215)
    arrays = {}
    for group, size, count in (("rgb32x32", (3, 32, 32), 18), ("rgb20x28", (3, 20, 28), 9), ("grey28x28", (1, 28, 28), 9)):
        image = np.stack([(photo, noise, two_valued)[n % 3](*size, random) for n in range(count)])
        op = random.integers(0, 9, (count, WIDTH, DEPTH))
        op[:9, 0, 0] = np.arange(9)  # each at least once
        op[np.arange(DEPTH) >= random.integers(1, DEPTH + 1, (count, WIDTH, 1))] = -1
        level = random.uniform(0.1, np.where(np.arange(count) % 2, 3, 9.9)[:, None, None], op.shape)
        negative = random.integers(0, 2, op.shape)
        weight = random.dirichlet([1] * WIDTH, count) * random.beta(1, 1, (count, 1))
        weight[0] = [1, 0, 0]
        coefficient = np.floor(weight * 2**20).astype(np.int64)
        draws = dict(image=image, coefficient=coefficient, op=op, level=level, negative=negative)
        expected = [mixed(*case) for case in zip(image, coefficient, op, level, negative)]
        arrays.update({f"{group}/{name}": array for name, array in {**draws, "expected": np.stack(expected)}.items()})
    np.savez_compressed(path, **arrays)


if __name__ == "__main__":
    main()
