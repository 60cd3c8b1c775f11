"""Compares the losses of the same trainings in PyTorch and in this project: equal weights, images, batches and draws.

    bazel build //tools/peers:loss_curves
    python3 tools/peers/loss_curve_peer.py --loss_curves=bazel-bin/tools/peers/loss_curves --sam=sam.py [--steps=100]

sam.py comes from github.com/davda54/sam (3c3afdb): the class SAM of the trainings sam and sam_adaptive.

loss_curve_losses.py has each loss, from its paper or its authors' formula; the only inputs from the C++ code are the
arrays that it writes: the initial weights, the samples of each batch, and the random draws (the order and the
coefficient of feature mixup, images that are mixed or outside the known classes, views, the directions of virtual
outliers). Networks, without dropout: osrci_cnn in f32 and a narrow vgg32 in f64 (with batch norm, f32 is chaotic:
PyTorch itself is 1e-3 away from what it gives with weights changed by 1e-7; so is CIDER's loss, by 5e-3, which is in
f64 on both). SGD with Nesterov momentum 0.9, learning rate 0.001, weight decay 5e-4; batches of 64 of 512 images of 6
classes. The largest difference of the loss of a step must be at most 1e-4, or the exit code is 1.

--json=FILE also writes PyTorch's losses; tools/peers/testdata/loss_curves.json contains the losses of 24 steps.
--only=NAME runs a single loss and adds its lines to the file. Needs torch, numpy and safetensors; made for PyTorch 2.11.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional

import loss_curve_losses as losses
import networks
from loss_curve_losses import CLASSES, LOSSES

TOLERANCE = 1e-4


class Points(nn.Module):
    """A point per class; returns (logits, distances)."""

    def __init__(self, feature_dim, logits):
        super().__init__()
        self.point = nn.Parameter(torch.empty(CLASSES, feature_dim))
        self.logits = logits

    def forward(self, feature):
        distance = (feature[:, None, :] - self.point[None, :, :]).pow(2).mean(2)
        return self.logits(distance, feature @ self.point.T), distance


class Decomposed(nn.Module):
    """Generalised ODIN's head in training, with cosines."""

    def __init__(self, feature_dim):
        super().__init__()
        self.h = nn.Linear(feature_dim, CLASSES, bias=False)
        self.g = nn.Sequential(nn.Linear(feature_dim, 1), nn.BatchNorm1d(1), nn.Sigmoid())

    def forward(self, feature):
        x = feature / (feature.norm(dim=1, keepdim=True) + 1e-4)
        w = self.h.weight / (self.h.weight.norm(dim=1, keepdim=True) + 1e-4)
        return x @ w.T / self.g(feature)


class NormalisedLinear(nn.Linear):
    """T2FNorm's head in training."""

    def forward(self, feature):
        return super().forward(functional.normalize(feature, dim=1) / 0.1)


class RandomTemperature(nn.Module):
    """The logits and the variances of OpenOOD's rts_net.py."""

    def __init__(self, feature_dim):
        super().__init__()
        self.classifier = nn.Linear(feature_dim, CLASSES)
        self.logvar_rts = nn.Sequential(nn.Linear(feature_dim, 32), nn.BatchNorm1d(32))

    def forward(self, feature):
        return torch.cat([self.classifier(feature), self.logvar_rts(feature).exp()], 1)


class Cosine(nn.Linear):
    """The classifier of YutingLi0606/SURE (model/classifier.py), with its temperature of 8."""

    def forward(self, feature):
        return 8 * (functional.normalize(feature, p=2, dim=1, eps=1e-12) @
                    functional.normalize(self.weight, p=2, dim=1, eps=1e-12).T)


class Probe(nn.Linear):
    """Is trained on features without changing them."""

    def forward(self, feature):
        return super().forward(feature.detach())


HEADS = {
    losses.background_class: lambda dim: nn.Linear(dim, CLASSES + 1),
    losses.g_odin: Decomposed,
    losses.rts: RandomTemperature,
    losses.t2fnorm: lambda dim: NormalisedLinear(dim, CLASSES),
    losses.cider: lambda dim: Probe(dim, CLASSES),
    losses.proser: lambda dim: nn.Linear(dim, CLASSES + 1),
    losses.openmix: lambda dim: nn.Linear(dim, CLASSES + 1),
    losses.cosine: lambda dim: Cosine(dim, CLASSES, bias=False),
    losses.confidence_branch: lambda dim: nn.Linear(dim, CLASSES + 1),
}
SAM = {losses.sam: {"rho": 0.05}, losses.sam_adaptive: {"rho": 0.1, "adaptive": True}}
LOGITS_OF_POINTS = {
    "gcpl": lambda distance, dot: -distance,
    "rpl": lambda distance, dot: distance,
    "arpl": lambda distance, dot: distance - dot,
    "confusing_samples": lambda distance, dot: distance - dot,
}


class Training:
    def __init__(self, loss, backbone, weights, samples, sam):
        self.loss = loss
        self.backbone = backbone
        self.points = loss.__name__ in LOGITS_OF_POINTS
        self.head = (Points(backbone.feature_dim, LOGITS_OF_POINTS[loss.__name__])
                     if self.points else HEADS.get(loss, lambda dim: nn.Linear(dim, CLASSES))(backbone.feature_dim))
        self.dtype = weights["backbone.conv1.weight"].dtype
        self.backbone.to(self.dtype)
        self.head.to(self.dtype)
        nn.ModuleDict({"backbone": self.backbone, "head": self.head}).load_state_dict(
            {name: value for name, value in weights.items() if not name.startswith("loss.")})
        self.loss_parameters = {name: value.requires_grad_() for name, value in weights.items()
                                if name.startswith("loss.") and not name.endswith("radius")}
        self.memory = {}
        self.radius = torch.zeros(1, dtype=self.dtype, requires_grad=True)
        self.correct = torch.zeros(samples, dtype=torch.int64)
        parameters = [*self.backbone.parameters(), *self.head.parameters()]
        parameters += self.loss_parameters.values()
        if loss in losses.OWN_RADIUS:
            parameters.append(self.radius)
        sgd = {"lr": 0.001, "momentum": 0.9, "nesterov": True, "weight_decay": 5e-4}
        self.optimiser = (sam(parameters, torch.optim.SGD, **SAM[loss], **sgd)
                          if loss in SAM else torch.optim.SGD(parameters, **sgd))

    def curve(self, data):
        label = torch.from_numpy(data["label"])
        for number, samples in enumerate(data["batch"]):
            sample = torch.from_numpy(samples)
            image = torch.from_numpy(data["image"])[sample].to(self.dtype)
            draws = {name: torch.from_numpy(np.asarray(data[name][number]))
                     for name in ("order", "coefficient", "extra", "share", "far", "view", "noise") if name in data}
            if "coefficient" in draws:
                draws["coefficient"] = draws["coefficient"].to(self.dtype)
            if "share" in draws and self.loss not in (losses.cutmix, losses.mix_oe, losses.openmix):
                mixture = draws["share"] * image + (1 - draws["share"]) * image[draws["order"]]
                assert (mixture - draws["extra"]).abs().max() < 1e-5
            known = len(sample)
            if self.loss in (losses.mixup, losses.cutmix):  # the network sees only these
                image, known = draws["extra"].to(self.dtype), 0
            elif "extra" in draws and self.loss is not losses.mix_oe:
                image = torch.cat([image, draws["extra"].to(self.dtype)])
            elif "view" in draws:
                image = torch.cat([image, draws["view"].to(self.dtype)])
            epoch = number * len(sample) // len(label)
            step = self.step(image, known, draws, label[sample], sample, epoch)
            value = self.loss(step)
            self.optimiser.zero_grad()
            value.backward()
            if self.loss in SAM:
                self.optimiser.first_step(zero_grad=True)
                self.loss(self.step(image, known, draws, label[sample], sample, epoch)).backward()
                self.optimiser.second_step(zero_grad=True)
            else:
                self.optimiser.step()
            if known == len(sample):
                self.correct[sample] += step.logits.argmax(1) == label[sample]
            yield value.item()

    def step(self, image, known, draws, label, sample, epoch):
        feature = self.backbone(image)
        logits, distance = self.head(feature) if self.points else (self.head(feature), None)
        outside = logits[known:]
        if self.loss is losses.mix_oe:  # in a separate pass, after the batch's
            outside = self.head(self.backbone(draws["extra"].to(self.dtype)))
        distances = (None, None) if distance is None else (distance[:known], distance[known:])
        step = losses.Step(self, draws, label, sample, epoch, feature[:known], logits[:known], distances[0], outside,
                           feature[known:], distances[1], logits[known:].split(len(sample)))
        step.image = image
        return step


def sam_of(path):
    """The class SAM of the file; none without one."""
    module = {}
    if path:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), module)
    return module.get("SAM")


def backbone_of(model):
    if model == "vgg32":
        return networks.Vgg32(width=4, feature_dim=16, dropout=0)
    return networks.OsrciCnn(size=24, dropout=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loss_curves", required=True, help="the program of this project")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--json", help="a file for the losses of PyTorch")
    parser.add_argument("--only", help="one loss")
    parser.add_argument("--sam", help="sam.py of davda54/sam")
    options = parser.parse_args()
    chosen = [loss for loss in LOSSES if options.only in (None, loss.__name__)]
    torch.set_num_threads(1)

    curves, worst = {}, 0.0
    for model in ("osrci_cnn", "vgg32"):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([options.loss_curves, folder, model, str(options.steps),
                            *([options.only] if options.only else [])], check=True)
            names = sorted(file[:-4] for file in os.listdir(folder) if file.endswith(".npz"))
            assert names == sorted(loss.__name__ for loss in chosen), names
            for loss in chosen:
                path = os.path.join(folder, loss.__name__)
                data = dict(np.load(path + ".npz"))
                training = Training(loss, backbone_of(model), load_file(path + ".safetensors"), len(data["label"]),
                                    sam_of(options.sam))
                theirs = list(training.curve(data))
                difference = float(np.abs(np.array(theirs) - data["loss"]).max())
                print(f"{model:10s} {loss.__name__:22s} {theirs[0]:8.4f} to {theirs[-1]:8.4f}, largest difference "
                      f"{difference:.1e}", flush=True)
                worst = max(worst, difference if math.isfinite(difference) else math.inf)
                curves[f"{model}/{loss.__name__}"] = theirs
    if options.json:
        about = f"Written by tools/peers/loss_curve_peer.py --steps={options.steps} with PyTorch {torch.__version__}."
        if options.only:
            with open(options.json, encoding="utf-8") as file:
                curves = {**json.load(file), **curves}
            del curves["about"]
            curves = dict(sorted(curves.items(), key=lambda of: of[0].split("/")[0]))
        with open(options.json, "w", encoding="utf-8") as file:
            rows = [f' "{name}": {json.dumps([round(value, 12) for value in curve])}' for name, curve in curves.items()]
            file.write("{\n" + f' "about": "{about}",\n' + ",\n".join(rows) + "\n}\n")
    print(f"largest difference in {options.steps} steps: {worst:.1e}, of at most {TOLERANCE:.0e}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
