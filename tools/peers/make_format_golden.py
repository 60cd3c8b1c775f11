"""Writes small files in the formats of image data sets, and their expected content.

    python3 tools/peers/make_format_golden.py data/readers/testdata

The stored files were made with SciPy 1.17.1, NumPy and Pillow on x86-64. golden: formats.npz with

    pixels u8 [6, 3, 4, 5], label i64 [6]    what is in digits.mat (SciPy's savemat, compressed), digits_plain.mat (not
                                             compressed, labels as doubles) and pictures.npz (NumPy)
    exif/N u8 [3, H, W], N = 1, ..., 8       Pillow's ImageOps.exif_transpose of exif_N.jpg, whose EXIF orientation is N

and other_formats.npz with, for each image file F of TIFF, GIF, BMP, PNM and animated WebP, made with Pillow 13.0.0,

    F u8 [3, H, W]                           Pillow's convert("RGB") of its first frame
    F/upright u8 [3, H, W]                   for files with an orientation, PNG too: after ImageOps.exif_transpose
"""

import argparse
import io
import os
import struct

import numpy as np
import scipy.io
from PIL import Image, ImageOps


def planes(image):
    return np.ascontiguousarray(np.asarray(image.convert("RGB")).transpose(2, 0, 1))


def bmp(width, height, bits, compression, pixels, palette=b"", masks=b"", header_size=40):
    """A bitmap as Pillow doesn't write it."""
    if header_size == 12:
        header = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(pixels), 2835, 2835,
                             len(palette) // 4, 0)
    begin = 14 + len(header) + len(masks) + len(palette)
    return struct.pack("<2sIHHI", b"BM", begin + len(pixels), 0, 0, begin) + header + masks + palette + pixels


def bitmaps(random):
    """Files of run-length encoded, 16-bit and upside-down bitmaps."""
    palette = bytes(value for i in range(16) for value in (16 * i, 255 - 16 * i, 8 * i, 0))
    # 6 x 4: a run and the end of the row; three pixels as they are, padded; a move up and to the right; a run.
    runs = bytes([6, 3, 0, 0, 0, 3, 1, 2, 4, 0, 3, 5, 0, 0, 0, 2, 2, 1, 4, 7, 0, 1])
    halves = bytes([6, 0x35, 0, 0, 0, 5, 0x12, 0x34, 0x50, 0, 1, 0x60, 0, 0, 0, 2, 2, 1, 4, 0x79, 0, 1])
    rows16 = random.randint(0, 1 << 16, (5, 6)).astype("<u2").tobytes()
    return {
        "runs8.bmp": bmp(6, 4, 8, 1, runs, palette),
        "runs4.bmp": bmp(6, 4, 4, 2, halves, palette),
        "five_bits.bmp": bmp(6, 5, 16, 0, rows16),
        "six_bits.bmp": bmp(6, 5, 16, 3, rows16, masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F)),
        "from_top.bmp": bmp(5, -3, 24, 0, random.randint(0, 256, (3, 16)).astype(np.uint8).tobytes()),
        "four_bits.bmp": bmp(5, 3, 4, 0, random.randint(0, 256, (3, 4)).astype(np.uint8).tobytes(), palette),
        "os2.bmp": bmp(5, 3, 24, 0, random.randint(0, 256, (3, 16)).astype(np.uint8).tobytes(), header_size=12),
    }


def anymaps(random):
    """Files of portable maps in text, and with other largest values than 255."""
    deep = random.randint(0, 1001, (4, 5, 3))
    return {
        "text.pbm": b"P1\n# two rows\n3 2\n101\n0 1 0\n",
        "text.pgm": b"P2 3 2 15 0 1 2\n13 14 15\n",
        "text.ppm": b"P3\n2 1\n# largest\n100\n0 50 100  33 66 99\n",
        "deep.ppm": b"P6 5 4 1000\n" + deep.astype(">u2").tobytes(),
        "deepest.ppm": b"P6 5 4 65535\n" + (65 * deep).astype(">u2").tobytes(),
        "shallow.pgm": b"P5\n5 4\n7\n" + (deep[:, :, 0] % 8).astype(np.uint8).tobytes(),
    }


def other_formats(folder, random):
    y, x = np.meshgrid(np.arange(19), np.arange(26), indexing="ij")
    smooth = np.stack([9 * x, 13 * y, 5 * (x + y)], axis=2).astype(np.uint8)
    colour, grey = Image.fromarray(smooth), Image.fromarray(smooth[:, :, 2])
    alpha = Image.fromarray(np.concatenate([smooth, 255 - smooth[:, :, :1]], axis=2))
    palette, bits = colour.quantize(16), grey.convert("1")
    later = [Image.fromarray(255 - smooth), Image.fromarray(smooth // 2)]
    saved = {
        "rgb.bmp": (colour, {}), "grey.bmp": (grey, {}), "palette.bmp": (palette, {}), "one_bit.bmp": (bits, {}),
        "rgba.bmp": (alpha, {}),
        "plain.tif": (colour, {}), "lzw.tif": (colour, {"compression": "tiff_lzw"}),
        "deflate.tiff": (colour, {"compression": "tiff_adobe_deflate"}),
        "packbits.tif": (grey, {"compression": "packbits"}),
        "jpeg.tif": (colour, {"compression": "jpeg", "quality": 90}),
        "fax.tif": (bits, {"compression": "group4"}), "palette.tif": (palette, {}), "rgba.tif": (alpha, {}),
        "grey_alpha.tif": (alpha.convert("LA"), {}), "cmyk.tif": (colour.convert("CMYK"), {}),
        "pages.tif": (colour, {"save_all": True, "append_images": later}),
        "turned.tif": (colour, {"tiffinfo": {274: 6}}),
        "palette.gif": (palette, {"interlace": False}), "interlaced.gif": (palette, {"interlace": True}),
        "see_through.gif": (palette, {"transparency": 3}),
        "moving.gif": (colour, {"save_all": True, "append_images": later}),
        "grey.pgm": (grey, {}), "rgb.ppm": (colour, {}), "one_bit.pbm": (bits, {}),
        "moving.webp": (colour, {"save_all": True, "append_images": later, "lossless": True}),
    }
    for number in (6, 8):
        exif = Image.Exif()
        exif[0x0112] = number
        saved[f"turned_{number}.png"] = (colour, {"exif": exif})
        saved[f"turned_{number}.webp"] = (colour, {"exif": exif, "lossless": True})
    files = {**bitmaps(random), **anymaps(random)}
    for name, (image, options) in saved.items():
        stream = io.BytesIO()
        image.save(stream, format={"tif": "TIFF", "tiff": "TIFF", "gif": "GIF", "bmp": "BMP", "webp": "WEBP",
                                   "png": "PNG"}.get(name.split(".")[-1], "PPM"), **options)
        files[name] = stream.getvalue()
    # A frame that is smaller than its canvas.
    files["canvas.gif"] = files["see_through.gif"][:6] + struct.pack("<HH", 31, 24) + files["see_through.gif"][10:]
    wide = bytearray(files["moving.webp"])
    wide[24:30] = struct.pack("<I", 32)[:3] + struct.pack("<I", 20)[:3]
    files["canvas.webp"] = bytes(wide)
    decoded = {}
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
        with Image.open(io.BytesIO(content)) as stored:
            # Pillow turns TIFF when it loads it.
            decoded[name] = smooth.transpose(2, 0, 1) if name == "turned.tif" else planes(stored)
        if "turned" in name:
            with Image.open(io.BytesIO(content)) as stored:
                decoded[f"{name}/upright"] = planes(stored if name == "turned.tif" else ImageOps.exif_transpose(stored))
    np.savez_compressed(os.path.join(folder, "other_formats.npz"), **decoded)


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
    other_formats(folder, random)


if __name__ == "__main__":
    main()
