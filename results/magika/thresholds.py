"""Thresholds with a guarantee for files of new packages, from the arrays of make_arrays.py, by `openset threshold`.

    python3 results/magika/thresholds.py OPENSET ARRAYS

For split S, the threshold is chosen on one known file, drawn at random, of each package of split S + 5: one file of
each, because files of a package are alike. Scores are fitted to all known files of the other eight splits. The rule
`conformal` then accepts a file of a new package with the target's probability. Prints what is accepted of the files that
split S tests, in percent: the mean over the ten splits.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy

SPLITS = 10
SCORES = ["max_softmax", "entropy", "ghost", "mahalanobis_plus_plus", "relative_mahalanobis", "knn { k: 5 }"]
TARGETS = ["0.95", "0.97"]


def rows(arrays, chosen):
    """The chosen samples; clusters are left out."""
    per_sample = ("logits", "features", "label")
    return {name: arrays[name][chosen] if name in per_sample else arrays[name] for name in per_sample + (
        "head_weight", "head_bias")}


def main(openset, folder):
    packages = [set(numpy.load(os.path.join(folder, f"test_{s}.npz"))["cluster"]) for s in range(SPLITS)]
    accepted = {}
    for s in range(SPLITS):
        arrays = dict(numpy.load(os.path.join(folder, f"fit_{s}.npz")))
        random = numpy.random.default_rng(s)
        held_out = sorted(packages[(s + 5) % SPLITS])
        is_held_out = numpy.isin(arrays["cluster"], held_out)
        one_each = [random.choice(of_package) for of_package in
                    (numpy.flatnonzero(arrays["cluster"] == package) for package in held_out) if len(of_package)]
        with tempfile.TemporaryDirectory() as made:
            fit, validation = os.path.join(made, "fit.npz"), os.path.join(made, "validation.npz")
            numpy.savez(fit, **rows(arrays, ~is_held_out))
            numpy.savez(validation, **rows(arrays, one_each))
            for score in SCORES:
                for target in TARGETS:
                    done = subprocess.run(
                        [openset, "threshold", validation, os.path.join(folder, f"test_{s}.npz"), "--rule=conformal",
                         f"--target={target}", f"--score={score}", f"--fit={fit}", "--format=json"],
                        capture_output=True, check=False)
                    if done.returncode:
                        sys.exit(done.stderr.decode())
                    report = json.loads(done.stdout)
                    test = report["test"]
                    accepted.setdefault((score, target), []).append(
                        (test["known_accepted"], 1 - test["unknown_rejected"], report["validation"]["n_known"]))
    print(f"{'score':24}{'target':>8}{'known accepted':>20}{'unknown accepted':>20}")
    for (score, target), values in accepted.items():
        known, unknown, _ = zip(*values)
        print(f"{score:24}{100 * float(target):8.1f}{100 * numpy.mean(known):13.1f} ± {100 * numpy.std(known):.1f}"
              f"{100 * numpy.mean(unknown):14.1f} ± {100 * numpy.std(unknown):.1f}")
    sizes = [value[2] for value in accepted[SCORES[0], TARGETS[0]]]
    print(f"chosen on {min(sizes)} to {max(sizes)} packages")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
