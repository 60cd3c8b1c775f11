"""The command: OPENSET names the program, "openset" by default."""
import json
import os
import subprocess
import tempfile

import numpy as np

PROGRAM = os.environ.get("OPENSET", "openset")
NAME = "openset"
VERSION = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout.split()[1].rstrip(",")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "v1", "expected.json")) as file:
    EXPECTED = json.load(file)


def run(*words):
    done = subprocess.run([PROGRAM, "eval", *words], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.splitlines()[-1])
    return done.stdout


def metrics(d):
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "case.npz"), **d)
        found = {}
        # One of each quantity: the first definition, which has the plain name.
        for name, about in EXPECTED["metrics"].items():
            if about["quantity"] not in found:
                text = run(os.path.join(folder, "case.npz"), "--metrics", about["openset"], "--format=json")
                value = list(json.loads(text)["metrics"].values())
                found[about["quantity"]] = value[0]["value"] if value else None
        return found


def scored(d, spec):
    with tempfile.TemporaryDirectory() as folder:
        fit = {key[6:] if "train_" in key else key: a for key, a in d.items() if key.startswith(("train_", "head_"))}
        np.savez(os.path.join(folder, "fit.npz"), **fit)
        np.savez(os.path.join(folder, "case.npz"), **{key: a for key, a in d.items() if not key.startswith("train_")})
        out = os.path.join(folder, "out.npz")
        fitted = [f"--fit={folder}/fit.npz"] if fit else []
        run(os.path.join(folder, "case.npz"), *fitted, "--score", spec, f"--sample_scores={out}")
        with np.load(out) as file:
            return file["unknown_score"]


def scores(d):
    found = {name: lambda spec=about["openset"]: scored(d, spec) for name, about in EXPECTED["scores"].items()}
    for tail in (5, 20):
        found[f"openmax_tail{tail}"] = lambda tail=tail: scored(d, f"openmax {{ tail: {tail} }}")
    return found
