"""Files of samples that tests measure."""
import random
import struct
import zlib

from arrays import f32, i64, texts

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


CLASSES, AXES = 4, 6


def cloud(known, unknown=0, seed=1, without_class=None):
    """Features of samples around points: known sample i is of class i % 4; others are of the groups "near" and "far".

    Each sample has a positive feature, as some scores require.
    """
    draw = random.Random(seed)
    label = [i % CLASSES if i < known else -1 for i in range(known + unknown)]
    group = [-1 if i < known else (i - known) % 2 for i in range(known + unknown)]
    features = []
    for one, of_group in zip(label, group):
        axis, distance = (one, 3) if one >= 0 else (CLASSES + of_group, (1.5, 4)[of_group])
        features.append([draw.gauss(1 + (distance if a == axis else 0), 1) for a in range(AXES)])
    kept = [i for i, one in enumerate(label) if without_class is None or one != without_class]
    return {"features": f32([x for i in kept for x in features[i]], len(kept), AXES),
            "label": i64([label[i] for i in kept]), "group": i64([group[i] for i in kept]),
            "group_names": texts(["near", "far"])}


def outputs_of(samples, bias=0):
    """The arrays of a cloud and its outputs of a linear network: logit c is 3 x_c + bias c."""
    x, n = samples["features"].values, len(samples["label"].values)
    return {**samples,
            "logits": f32([3 * x[i * AXES + c] + bias * c for i in range(n) for c in range(CLASSES)], n, CLASSES),
            "head_weight": f32([3 if a == c else 0 for c in range(CLASSES) for a in range(AXES)], CLASSES, AXES),
            "head_bias": f32([bias * c for c in range(CLASSES)])}


def method_of_outputs(score, files="file: 'net.npz'", name="mine"):
    """A method whose network was run elsewhere."""
    return (f"name: '{name}' title: 'Mine' reference: 'own'\n"
            f"input {{}} inference {{ plain {{}} }} score {{ {score} {{}} }}\n"
            f"model {{ outputs {{ {files} }} }}\n")
