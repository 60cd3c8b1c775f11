"""Writes eval/testdata/zero_shot.json: scores of zero-shot outputs on random arrays, by the authors' code.

    python3 tools/peers/make_zero_shot_golden.py NegLabel GL-MCM COOkeD eval/testdata/zero_shot.json

The arguments are copies of github.com/XueJiang16/NegLabel (3253db6), AtsuMiyai/GL-MCM (8708a08) and glhr/COOkeD
(217223b). Called are NegLabel's grouping() without its random order of the negative texts, GL-MCM's
get_ood_scores_clip() and COOkeD's ood_eval(), on features in place of a network's, in float64. NegLabel's scores are
larger for known samples.
"""

import json
import os
import sys
import types

import numpy as np
import torch


def stub(**modules):
    """Modules with these names in place of what the authors' files import; "." is written as "__"."""
    for name, values in modules.items():
        module = types.ModuleType(name.replace("__", "."))
        module.__dict__.update(values)
        sys.modules[module.__name__] = module


def load(path, name="loaded", **values):
    module = types.ModuleType(name)
    module.__dict__.update(values)
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def neg_label(folder):
    os.environ["LOCAL_RANK"] = "0"

    class Registry:
        @staticmethod
        def register_module():
            return lambda cls: cls

    stub(mmcv={}, mmcv__runner={"BaseModule": torch.nn.Module}, mmcls={}, mmcls__models={"build_classifier": None},
         mmcls__models__ood={"__path__": []}, mmcls__models__builder={"OOD": Registry},
         mmcls__models__ood__utils={"add_noise": None})
    classifier = load(os.path.join(folder, "mmcls/models/ood/clip_ood.py"), "mmcls.models.ood.clip_ood",
                      __package__="mmcls.models.ood").ScalableClassifier
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
    return cases


def directions(*shape):
    """Vectors of length 1 with 64 numbers of 1/8 and -1/8, whose cosines are exact as floats."""
    return torch.where(torch.rand(*shape, 64) < 0.5, -0.125, 0.125)


def gl_mcm(folder):
    stub(clip={"tokenize": lambda texts: torch.arange(len(texts))})
    util = load(os.path.join(folder, "utils/detection_util.py"))
    cases = []
    for classes, height, width, temperature, weight in ((5, 2, 3, 1, 1.0), (3, 1, 1, 1, 0.5), (4, 3, 3, 2, 2.0)):
        images, places, texts = directions(7), directions(7, height, width), directions(classes)

        class Network:
            @staticmethod
            def encode_image(_):
                return images.clone(), places.clone()

            @staticmethod
            def encode_text(_):
                return texts.clone()

        args = types.SimpleNamespace(T=temperature, score="GL-MCM", lambda_local=weight)
        loader = [(torch.zeros(7), torch.zeros(7))]
        loader = type("Loader", (list,), {"dataset": range(7)})(loader)
        score = util.get_ood_scores_clip(args, Network, loader, ["text"] * classes)
        cosines = torch.cat([images[:, None], places.flatten(1, 2)], 1) @ texts.T
        cases.append({"name": f"{classes} classes, {height} x {width} places", "places": height * width,
                      "temperature": temperature, "weight": weight, "outputs": classes * (1 + height * width),
                      "logits": cosines.flatten().tolist(), "score": score.tolist(),
                      "prediction": cosines[:, 0].argmax(1).tolist()})
    return cases


def cooked(folder):
    stub(data_utils=dict.fromkeys(
        ("get_id_dataset", "get_ood_dataset", "get_csid_dataset", "get_csid_dict", "get_ood_dict", "get_label_to_class_mapping",
         "DATA_INFO", "get_dataloader", "get_preprocessor", "get_img_normalizer")), model_utils=dict.fromkeys(
             ("get_classifier_model", "get_probe_model", "get_clip_model", "clip_architecture_to_dim", "probes", "classifiers")))
    sys.path.insert(0, folder)  # eval_utils
    module = load(os.path.join(folder, "eval.py"))

    class Fixed:
        def __init__(self, output):
            self.output = output

        def eval(self):
            pass

        def __call__(self, _):
            return self.output

    cases = []
    for classes in (4, 7):
        images, texts = directions(9), directions(classes)
        classifier, probe = (torch.round(torch.randn(9, classes) * 2 * 64) / 64 for _ in range(2))
        batch = {"label": torch.zeros(9), "data": torch.zeros(9), "clip_feat": images}
        prediction, confidence, _ = module.ood_eval([batch], Fixed(classifier), Fixed(probe), Fixed(None), texts, 100.0,
                                                    {"classifier": lambda x: x, "clip": lambda x: x})
        cases.append({"name": f"{classes} classes", "outputs": 3 * classes,
                      "logits": torch.cat([classifier, probe, images @ texts.T], 1).flatten().tolist(),
                      "max_softmax": (-confidence["msp_avg_classifier+probe+clip_t100"]).tolist(),
                      "entropy": confidence["entropy_avg_classifier+probe+clip_t100"].tolist(),
                      "prediction": prediction["pred_avg_classifier+probe+clip_t100"].tolist()})
    return cases


def main():
    torch.manual_seed(3)
    torch.set_default_dtype(torch.float64)
    torch.Tensor.cuda = lambda self, *_: self
    torch.Tensor.float = lambda self: self
    np.set_printoptions(legacy="1.21")
    golden = {"cases": neg_label(sys.argv[1]), "gl_mcm": gl_mcm(sys.argv[2]), "cooked": cooked(sys.argv[3])}
    with open(sys.argv[4], "w", encoding="utf-8") as file:
        file.write(json.dumps(golden, indent=1) + "\n")


main()
