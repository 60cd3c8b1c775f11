"""Writes small images in every supported encoding, and what Pillow makes of images.

    python3 tools/peers/make_image_golden.py data/readers/testdata data/augment/testdata/crops.npz data/augment/testdata/resized.npz

The stored files were made with Pillow 13.0.0 and NumPy 2.4.6 on x86-64. The first folder gets the images and
decoded.npz with, for each file F, `F/rgb` u8 [3, H, W] and `F/l` u8 [1, H, W]: Pillow's convert("RGB") and convert("L").
crops.npz holds `image` u8 [3, H, W] and, for boxes (top, left, height, width) `box` i64 [n, 4], `resized_crop` u8 [n, 3,
8, 8]: torchvision's resized_crop of PIL images, which is crop(), then resize(BILINEAR); and for the sizes `side` i64 [m]
`shorter_side/i`: torchvision's Resize(side), then `center_crop/i`: CenterCrop(8) of that, of the images `wide` and
`tall`.
resized.npz holds the images `image/i` u8 [3, H, W] and, for each, `bilinear/i/HEIGHTxWIDTH` and `bicubic/i/...`: Pillow's
resize((width, H)), then resize((width, height)), with BILINEAR and BICUBIC.
"""

import argparse
import os

import numpy as np
from PIL import Image

BILINEAR = Image.Resampling.BILINEAR


def picture(height, width, channels, seed):
    """Smooth colours with some noise."""
    random = np.random.RandomState(seed)
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    values = 128 + 90 * np.sin(x / 3.0 + c) * np.cos(y / 4.0 - c) + random.uniform(-20, 20, (height, width, channels))
    return np.clip(values, 0, 255).astype(np.uint8)


def planes(image):
    pixels = np.asarray(image)
    return pixels[None] if pixels.ndim == 2 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def write_images(folder):
    colour = Image.fromarray(picture(17, 22, 3, 0))
    grey = Image.fromarray(picture(9, 14, 1, 1)[:, :, 0])
    alpha = Image.fromarray(np.concatenate([picture(6, 5, 3, 2), picture(6, 5, 1, 3)], axis=2))
    files = {
        "rgb.png": (colour, {}),
        "grey.png": (grey, {}),
        "rgba.png": (alpha, {}),
        "grey_alpha.png": (alpha.convert("LA"), {}),
        "palette.png": (colour.quantize(16), {}),
        "one_bit.png": (grey.convert("1"), {}),
        "rgb.jpg": (colour, {"quality": 90}),
        "full_chroma.jpg": (colour, {"quality": 90, "subsampling": 0}),
        "progressive.jpeg": (colour, {"quality": 70, "progressive": True}),
        "grey.jpg": (grey, {"quality": 80}),
        "cmyk.jpg": (colour.convert("CMYK"), {"quality": 90}),
        "lossless.webp": (colour, {"lossless": True}),
        "lossy.webp": (colour, {"quality": 80}),
    }
    decoded = {}
    for name, (image, options) in files.items():
        path = os.path.join(folder, name)
        image.save(path, **options)
        with Image.open(path) as stored:
            decoded[f"{name}/rgb"] = planes(stored.convert("RGB"))
            # Greys of colour images are made of the RGB values, as everywhere in the project.
            grey_mode = stored.mode in ("L", "1")
            decoded[f"{name}/l"] = planes(stored.convert("L") if grey_mode else stored.convert("RGB").convert("L"))
    np.savez_compressed(os.path.join(folder, "decoded.npz"), **decoded)


def shorter_side(image, side):
    """torchvision.transforms.functional.resize(image, side)."""
    short, long = min(image.size), max(image.size)
    if short == side:
        return image
    new_long = int(side * long / short)
    return image.resize((side, new_long) if image.width <= image.height else (new_long, side), BILINEAR)


def center_crop(image, size):
    """torchvision.transforms.functional.center_crop(image, size)."""
    top = int(round((image.height - size) / 2.0))
    left = int(round((image.width - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def write_crops(path):
    image = picture(23, 31, 3, 4)
    boxes = [(0, 0, 23, 31), (3, 5, 10, 7), (22, 30, 1, 1), (0, 0, 8, 8), (4, 9, 5, 20), (1, 2, 16, 16), (7, 0, 16, 9)]
    sides = [8, 11, 16, 23, 40]
    arrays = {"image": planes(image), "box": np.array(boxes), "side": np.array(sides)}
    crops = []
    for top, left, height, width in boxes:
        crop = Image.fromarray(image).crop((left, top, left + width, top + height))
        crops.append(planes(crop.resize((8, 8), BILINEAR)))
    arrays["resized_crop"] = np.stack(crops)
    for name, pixels in {"wide": image, "tall": picture(30, 19, 3, 5)}.items():
        arrays[name] = planes(pixels)
        for i, side in enumerate(sides):
            resized = shorter_side(Image.fromarray(pixels), side)
            arrays[f"{name}/shorter_side/{i}"] = planes(resized)
            arrays[f"{name}/center_crop/{i}"] = planes(center_crop(resized, 8))
    np.savez_compressed(path, **arrays)


def write_resized(path):
    """Noise, edges of full contrast (where bicubic leaves the range) and a smooth picture, made smaller and larger."""
    random = np.random.RandomState(6)
    edges = np.zeros((40, 33, 3), dtype=np.uint8)
    edges[5:20, 7:9] = 255
    edges[:, 20:, 1] = 255
    images = [random.randint(0, 256, (64, 64, 3)).astype(np.uint8), edges, picture(75, 50, 3, 7)]
    arrays = {}
    for i, image in enumerate(images):
        arrays[f"image/{i}"] = planes(image)
        for height, width in [(32, 32), (28, 28), (96, 96), (1, 1)]:
            for name, filter in {"bilinear": BILINEAR, "bicubic": Image.Resampling.BICUBIC}.items():
                # Width first, as Pillow itself did up to 12; 13 begins with the height for some sizes.
                wide = Image.fromarray(image).resize((width, image.shape[0]), filter)
                arrays[f"{name}/{i}/{height}x{width}"] = planes(wide.resize((width, height), filter))
    np.savez_compressed(path, **arrays)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("image_folder")
    parser.add_argument("crops")
    parser.add_argument("resized")
    arguments = parser.parse_args()
    os.makedirs(arguments.image_folder, exist_ok=True)
    write_images(arguments.image_folder)
    write_crops(arguments.crops)
    write_resized(arguments.resized)


if __name__ == "__main__":
    main()
