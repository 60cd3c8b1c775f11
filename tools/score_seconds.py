"""Measures the CPU seconds of each score without its own pass for 10,000 images, on saved outputs.

    bazel run //experiments/specs:posthoc_sweep
    python3 tools/score_seconds.py --openset=bazel-bin/tools/openset --methods=max_logit,knn,... TEST.npz TRAIN.npz

TEST.npz and TRAIN.npz are the outputs of one training for its test images and for its training images, in the store's
outputs/. The score of each method is measured by `openset eval`, one after the other and then all of them again; those
that need more than these outputs are omitted. Prints the least user and system time of a method over the rounds, minus
the time of max_logit, scaled to 10,000 images of TEST.npz, and including the fit to all of TRAIN.npz. The last line is
the largest relative difference between the median round and the least one, over methods that take 0.2 s or more.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

IMAGES = 10_000


def spec_of(openset, method):
    """The method's score as text, or None."""
    shown = subprocess.run([openset, "show", "method", method], capture_output=True, text=True, check=True).stdout
    start = re.search(r"(?m)^score \{", shown)
    text, depth = "", 0
    for character in shown[start.end() - 1:]:
        depth += (character == "{") - (character == "}")
        text += character
        if depth == 0:
            return " ".join(re.sub(r"#.*", "", text[1:-1]).split())
    return None


def seconds(command):
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True)
    after = os.times()
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().split("\n")[-1])
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openset", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--methods", required=True, help="separated by commas, max_logit among them")
    parser.add_argument("test")
    parser.add_argument("train")
    options = parser.parse_args()
    images = len(np.load(options.test)["label"])
    commands = {}
    for method in options.methods.split(","):
        command = [options.openset, "eval", options.test, f"--score={spec_of(options.openset, method)}",
                   "--metrics=auroc", "--format=json"]
        for extra in ([], [f"--fit={options.train}"]):
            try:
                seconds(command + extra)
                commands[method] = command + extra
            except ValueError as error:
                reason = error
        if method not in commands:
            print(f"{method}: left out: {reason}", file=sys.stderr)
    rounds = [{method: seconds(command) for method, command in commands.items()} for _ in range(options.rounds)]
    base = min(of["max_logit"] for of in rounds)
    noise = 0.0
    for method in commands:
        taken = sorted(of[method] for of in rounds)
        if taken[0] >= 0.2:
            noise = max(noise, statistics.median(taken) / taken[0] - 1)
        print(f"{method}\t{max(0, taken[0] - base) * IMAGES / images:.2g}")
    print(f"{len(commands)} methods, {options.rounds} rounds, {base:.3f} s for max_logit, noise {noise:.0%}", file=sys.stderr)


if __name__ == "__main__":
    main()
