"""Writes small files in the formats of image data sets, and their expected content.

    python3 tools/peers/make_format_golden.py data/readers/testdata

The stored files were made with SciPy 1.17.1, NumPy and Pillow on x86-64. golden: formats.npz with

    pixels u8 [6, 3, 4, 5], label i64 [6]    what is in digits.mat (SciPy's savemat, compressed), digits_plain.mat (not
                                             compressed, labels as doubles) and pictures.npz (NumPy)
    exif/N u8 [3, H, W], N = 1, ..., 8       Pillow's ImageOps.exif_transpose of exif_N.jpg, whose EXIF orientation is N
"""

import argparse
import os

import numpy as np
import scipy.io
from PIL import Image, ImageOps


def planes(image):
    return np.ascontiguousarray(np.asarray(image.convert("RGB")).transpose(2, 0, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    random = np.random.RandomState(0)
    pixels = random.randint(0, 256, (6, 3, 4, 5)).astype(np.uint8)
    label = np.array([10, 1, 2, 9, 10, 3], dtype=np.int64)
    golden = {"pixels": pixels, "label": label}

    # SVHN: X [height, width, channels, samples], y [samples, 1].
    arrays = {"X": pixels.transpose(2, 3, 1, 0), "y": label.astype(np.uint8)[:, None]}
    scipy.io.savemat(os.path.join(folder, "digits.mat"), arrays, do_compression=True)
    scipy.io.savemat(os.path.join(folder, "digits_plain.mat"), {**arrays, "y": label.astype(np.float64)[:, None]})
    np.savez(os.path.join(folder, "pictures.npz"), images=pixels.transpose(0, 2, 3, 1), labels=label.astype(np.int32),
             grey=pixels[:, 0], wide=pixels.astype(np.int16))

    y, x = np.meshgrid(np.arange(16), np.arange(24), indexing="ij")
    picture = Image.fromarray(np.stack([10 * x, 15 * y, 5 * (x + y)], axis=2).astype(np.uint8))
    for orientation in range(1, 9):
        path = os.path.join(folder, f"exif_{orientation}.jpg")
        exif = Image.Exif()
        exif[0x0112] = orientation
        picture.save(path, quality=90, exif=exif)
        with Image.open(path) as stored:
            golden[f"exif/{orientation}"] = planes(ImageOps.exif_transpose(stored))
    np.savez_compressed(os.path.join(folder, "formats.npz"), **golden)


if __name__ == "__main__":
    main()
