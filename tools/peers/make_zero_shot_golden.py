"""Writes eval/testdata/zero_shot.json: NegLabel's scores on random arrays, by the authors' code.

    python3 tools/peers/make_zero_shot_golden.py NegLabel/mmcls/models/ood/clip_ood.py eval/testdata/zero_shot.json

The first argument is that file of github.com/XueJiang16/NegLabel (commit 5ab9a421), of which the class's grouping() is
called, without its random order of the negative texts. Larger = more known there.
"""

import json
import os
import sys
import types

import torch


def load(path):
    """The file's class, with what it imports from mmcv and mmcls left empty."""
    os.environ["LOCAL_RANK"] = "0"

    class Registry:
        @staticmethod
        def register_module():
            return lambda cls: cls

    names = {
        "mmcv": {}, "mmcv.runner": {"BaseModule": torch.nn.Module}, "mmcls": {},
        "mmcls.models": {"build_classifier": None}, "mmcls.models.ood": {"__path__": []},
        "mmcls.models.builder": {"OOD": Registry}, "mmcls.models.ood.utils": {"add_noise": None},
    }
    for name, values in names.items():
        module = types.ModuleType(name)
        module.__dict__.update(values)
        sys.modules[name] = module
    module = types.ModuleType("mmcls.models.ood.clip_ood")
    module.__package__ = "mmcls.models.ood"
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module.ScalableClassifier


def main():
    classifier = load(sys.argv[1])
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    cases = []
    for known, negative, groups, temperature in ((5, 20, 1, 1.0), (5, 20, 4, 1.0), (3, 23, 5, 0.5)):
        # Multiples of 1/64 are exact as floats.
        logits = torch.round(torch.randn(8, known + negative) * 64) / 64
        one = object.__new__(classifier)
        torch.nn.Module.__init__(one)
        one.t = temperature
        score = one.grouping(logits[:, :known], logits[:, known:], None, ngroup=groups)
        cases.append({"name": f"{known} known, {negative} negative, {groups} groups", "other_texts": negative, "groups": groups,
                      "temperature": temperature, "outputs": known + negative, "logits": logits.flatten().tolist(),
                      "score": (-score).tolist()})
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(json.dumps({"cases": cases}, indent=1) + "\n")


main()
