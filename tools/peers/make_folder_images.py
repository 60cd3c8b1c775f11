"""Writes small PNG images from which tests make image folders: 0.png to 9.png, 32 x 32 in colour, each with its own
stripes.

    python3 tools/peers/make_folder_images.py tools/testing/testdata/folder_images

The stored files were made with Pillow 13.0.0 and NumPy 2.4.6.
"""

import os
import sys

import numpy as np
from PIL import Image


def main(folder):
    os.makedirs(folder, exist_ok=True)
    y, x, channel = np.meshgrid(np.arange(32), np.arange(32), np.arange(3), indexing="ij")
    for number in range(10):
        angle = number * np.pi / 10
        noise = np.random.RandomState(number).uniform(-30, 30, y.shape)
        values = 128 + 80 * np.sin((x * np.cos(angle) + y * np.sin(angle)) / 2 + channel) + noise
        Image.fromarray(np.clip(values, 0, 255).astype(np.uint8)).save(os.path.join(folder, f"{number}.png"))


if __name__ == "__main__":
    main(sys.argv[1])
