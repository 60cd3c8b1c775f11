"""The Python module."""
import json
import os

import openset

NAME = "openset (Python)"
try:
    VERSION = openset.__version__
except ImportError:  # not installed
    VERSION = "from source"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "v1", "expected.json")) as file:
    EXPECTED = json.load(file)


def metrics(d):
    first = {}
    for about in EXPECTED["metrics"].values():
        first.setdefault(about["quantity"], about["openset"])
    found = {}
    for quantity, spec in first.items():
        value = list(openset.evaluate(**d, metrics=spec).json["metrics"].values())
        found[quantity] = value[0]["value"] if value else None  # none for these samples
    return found


def scores(d):
    fit = {key[6:]: array for key, array in d.items() if key.startswith("train_")}
    head = {key: d[key] for key in ("head_weight", "head_bias") if key in d}
    test = {key: d[key] for key in ("logits", "features") if key in d}

    def value_of(word):
        return word if word.isalpha() else float(word) if "." in word else int(word)

    def scored(spec):
        name, fields = spec.split(" ", 1)
        words = fields.strip("{} ").replace(":", "").split()
        of = openset.scores.Score(name, **{key: value_of(word) for key, word in zip(words[::2], words[1::2])})
        return (of.fit(**fit, **head) if fit else of).score_samples(**test, **head)

    specs = {name: about["openset"] for name, about in EXPECTED["scores"].items()}
    specs.update({f"openmax_tail{tail}": f"openmax {{ tail: {tail} }}" for tail in (5, 20)})
    return {name: lambda spec=spec: scored(spec) for name, spec in specs.items()}
