"""Files of samples that tests measure."""
import random
import struct
import zlib

from arrays import f32, i64

# Four known samples, the last one misclassified, and two unknown ones. In the order of scores: known, known, unknown,
# known, unknown, known (misclassified).
SCORES = "label,prediction,unknown_score\n0,0,0.1\n1,1,0.2\n1,1,0.4\n0,1,0.6\n-1,0,0.3\n-1,1,0.5\n"


def logits(strength, known=60, unknown=40, seed=1):
    """A simulated model of 3 classes; the logit of a known sample's class is raised by `strength`."""
    draw = random.Random(seed)
    label = [i % 3 if i < known else -1 for i in range(known + unknown)]
    return {"label": i64(label),
            "logits": f32([draw.gauss(0, 1) + (strength if c == one else 0) for one in label for c in range(3)],
                          len(label), 3)}


def png(red, green, blue, width=20, height=16):
    """A picture of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((red, green, blue)) * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
