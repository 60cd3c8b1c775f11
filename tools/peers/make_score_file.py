"""Writes an .npz of ready scores, or of logits, for measurements of `openset eval`. Needs nothing but Python.

    python3 tools/peers/make_score_file.py FILE.npz SAMPLES [OUTPUTS]
"""

import array
import random
import sys
import zipfile


def main(path, samples, outputs=0):
    """Ready scores, or logits, as np.savez stores them."""
    def member(archive, name, values, descr, shape):
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
                         + values.tobytes())

    draw = random.Random(1)
    part = min(samples, 100000)  # larger ones repeat it, with scores of their own
    label, prediction, score, logits = array.array("q"), array.array("q"), array.array("d"), array.array("f")
    for _ in range(part):
        known = draw.random() < 0.5
        label.append(draw.randrange(100) if known else -1)
        prediction.append(label[-1] if known and draw.random() < 0.8 else draw.randrange(100))
        score.append(draw.gauss(0 if known else 1.5, 1))
        for output in range(outputs):
            logits.append(draw.gauss(3 if output == label[-1] else 0, 1))
    repeats = samples // part
    with zipfile.ZipFile(path, "w") as archive:
        member(archive, "label", label * repeats, "<i8", (samples,))
        if outputs:
            member(archive, "logits", logits, "<f4", (samples, outputs))
            return
        member(archive, "prediction", prediction * repeats, "<i8", (samples,))
        member(archive, "unknown_score", array.array("d", (s + draw.random() * 1e-3 for _ in range(repeats) for s in score)),
               "<f8", (samples,))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
