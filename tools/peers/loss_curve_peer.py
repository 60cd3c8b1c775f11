"""The same trainings in PyTorch and in this project: equal weights, images, batches and draws; are the losses equal?

    bazel build //tools/peers:loss_curves
    python3 tools/peers/loss_curve_peer.py --loss_curves=bazel-bin/tools/peers/loss_curves [--steps=100]

Each loss is written here from its paper or its authors' formula; nothing is shared with the C++ code but the arrays that
it writes: the initial weights, the samples of each batch, and what was drawn (the order and the coefficient of feature
mixup, images that are mixed or outside the known classes, the directions of virtual outliers). Networks, without dropout: osrci_cnn in f32 and a narrow vgg32 in f64
(with batch norm, f32 is chaotic: PyTorch itself is 1e-3 away from what it gives with weights changed by 1e-7). SGD with
Nesterov momentum 0.9, learning rate 0.001, weight decay 5e-4; batches of 64 of 512 images of 6 classes. The largest
difference of the loss of a step must be at most 1e-4, or the exit code is 1.

--json=FILE also writes PyTorch's losses: tools/peers/testdata/loss_curves.json holds those of 24 steps. Needs torch,
numpy and safetensors; made for PyTorch 2.11.
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

import networks

CLASSES = 6
EPOCHS = 25
TOLERANCE = 1e-4


class Points(nn.Module):
    """A point per class; gives (logits, distances)."""

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


class Probe(nn.Linear):
    """Learns from features that it does not change."""

    def forward(self, feature):
        return super().forward(feature.detach())


class Step:
    """What a loss may look at in a step: the model's outputs, the labels and the draws."""

    def __init__(self, training, draws, label, sample, epoch, feature, logits, distance, outside,
                 outside_feature):
        self.training, self.draws, self.label, self.sample, self.epoch = training, draws, label, sample, epoch
        self.feature, self.logits, self.distance, self.outside = feature, logits, distance, outside
        self.outside_feature = outside_feature


def cross_entropy(step):
    return functional.cross_entropy(step.logits, step.label)


def label_smoothing(step):
    """The released code of OpenAUC: 1 - e on the true class, e / (C - 1) on the others, e = 0.3."""
    target = torch.full_like(step.logits, 0.3 / (CLASSES - 1))
    target[torch.arange(len(step.label)), step.label] = 0.7
    return -(target * functional.log_softmax(step.logits, 1)).sum(1).mean()


def open_auc(step):
    """loss/OpenAUCLoss.py: the first half against a mixture of the second, over the pairs that count."""
    half = len(step.label) // 2
    order, mix = step.draws["order"], step.draws["coefficient"]
    first, second = step.feature[:half], step.feature[half:]
    mixture = step.training.head(mix * second + (1 - mix) * second[order])
    labels = step.label[half:]
    keep = (labels != labels[order]) & (step.logits[:half].argmax(1) == step.label[:half])
    term = 0.0
    if keep.any():
        margin = 1 - step.logits[:half].max(1).values + mixture.max(1).values
        term = margin[keep].pow(2).mean()
    assert len(first) == len(mixture)
    return cross_entropy(step) + 0.1 * term


def open_auc_supplement(step):
    """Appendix D: the batch against its own mixture, r = min_c P(y != c), wrong samples count 0; lambda 0.5."""
    order, mix = step.draws["order"], step.draws["coefficient"]
    mixture = step.training.head(mix * step.feature + (1 - mix) * step.feature[order])
    differ = step.label != step.label[order]
    right = step.logits.argmax(1) == step.label

    def unknown(logits):
        return (1 - logits.softmax(1)).min(1).values

    value = (1 - (unknown(mixture) - unknown(step.logits))).pow(2)
    return cross_entropy(step) + 0.5 * (value * right)[differ].sum() / differ.sum()


def ranked(step, correctness, target):
    confidence = step.logits.softmax(1).max(1).values
    following = torch.arange(len(confidence)).roll(-1)
    other, c, c_other = confidence[following], correctness, correctness[following]
    t = target(confidence.detach(), other.detach(), c, c_other)
    return cross_entropy(step) + (-t * (confidence - other) + (c - c_other).abs()).clamp(min=0).mean()


def crl(step):
    """crl_utils.py of the authors: counts scaled by their least one and the number of epochs that are complete."""
    count = step.training.correct.to(step.logits.dtype)
    least = count.min()
    most = max(1, step.epoch)
    scaled = (count[step.sample] - least) / (most - least if most > least else 1)
    return ranked(step, scaled, lambda k, k_other, c, c_other: torch.sign(c - c_other))


def crl_unified_benchmark(step):
    """Their copy in the unified benchmark: counts over the epochs of the training; equal ones pull together."""

    def target(k, k_other, c, c_other):
        t = torch.ones_like(k)
        t[(c < c_other) & (k != k_other)] = -1
        t[(c == c_other) & (k > k_other)] = -1
        return t

    return ranked(step, step.training.correct[step.sample].to(step.logits.dtype) / EPOCHS, target)


def dirichlet_divergence(alpha):
    """KL(Dir(alpha) || Dir(1))."""
    uniform = torch.distributions.Dirichlet(torch.ones_like(alpha))
    return torch.distributions.kl_divergence(torch.distributions.Dirichlet(alpha), uniform)


def evidential(step, evidence, objective):
    alpha = evidence + 1
    one_hot = functional.one_hot(step.label, CLASSES)
    wrong = one_hot + (1 - one_hot) * alpha
    annealing = min(1, step.epoch / 10)
    return (objective(alpha, one_hot) + annealing * dirichlet_divergence(wrong.double())).mean().to(alpha.dtype)


def edl(step):
    def objective(alpha, one_hot):
        return (one_hot * (alpha.sum(1, keepdim=True).log() - alpha.log())).sum(1)

    return evidential(step, step.logits.clamp(-10, 10).exp(), objective)


def edl_mean_square(step):
    def objective(alpha, one_hot):
        strength = alpha.sum(1, keepdim=True)
        p = alpha / strength
        return ((one_hot - p).pow(2) + p * (1 - p) / (strength + 1)).sum(1)

    return evidential(step, functional.softplus(step.logits), objective)


def outlier_exposure(step):
    z = step.outside
    return cross_entropy(step) + 0.5 * (z.logsumexp(1) - z.mean(1)).mean()


def energy_margin(step):
    known, outside = -step.logits.logsumexp(1), -step.outside.logsumexp(1)
    return cross_entropy(step) + 0.1 * ((known + 5).relu().pow(2).mean() + (-1 - outside).relu().pow(2).mean())


def own_distance(step):
    return step.distance[torch.arange(len(step.label)), step.label]


def gcpl(step):
    return cross_entropy(step) + 0.1 * functional.mse_loss(step.feature, step.training.head.point[step.label]) / 2


def rpl(step):
    return cross_entropy(step) + 0.1 * (own_distance(step) - step.training.radius).pow(2).mean()


def arpl(step):
    """loss/ARPLoss.py: a ranking loss of margin 1 between the radius and the distance."""
    ones = torch.ones_like(own_distance(step))
    radius = step.training.radius.expand(len(step.label))
    return cross_entropy(step) + 0.1 * functional.margin_ranking_loss(radius, own_distance(step), ones, margin=1)


def logit_norm(step):
    """openood/trainers/logitnorm_trainer.py."""
    length = step.logits.norm(dim=1, keepdim=True) + 1e-7
    return functional.cross_entropy(step.logits / length / 0.04, step.label)


def t2fnorm(step):
    return cross_entropy(step)


def g_odin(step):
    return cross_entropy(step)


def centre(step):
    own = step.training.loss_parameters["loss.1.centre"][step.label]
    return cross_entropy(step) + 0.01 * 0.5 * (step.feature - own).pow(2).sum() / len(step.label)


def class_anchor(step):
    """CACLoss of dimitymiller/cac-openset: the other classes of each sample, anchors of 10, a weight of 0.1."""
    anchors = 10 * torch.eye(CLASSES, dtype=step.logits.dtype)
    distance = torch.cdist(step.logits, anchors, compute_mode="donot_use_mm_for_euclid_dist")
    own = distance.gather(1, step.label[:, None])
    others = torch.stack([row[torch.arange(CLASSES) != label] for row, label in zip(distance, step.label)])
    return torch.log(1 + (own - others).exp().sum(1)).mean() + 0.1 * own.mean()


def intra_inter(step):
    """Hassen and Chan, Eq. 1 to 4, over the classes of the batch, with a bound of 100."""
    present = step.label.unique()
    means = torch.stack([step.feature[step.label == c].mean(0) for c in present])
    spread = sum((step.feature[step.label == c] - mean).pow(2).sum() for c, mean in zip(present, means))
    separation = min((a - b).pow(2).sum() for i, a in enumerate(means) for b in means[i + 1:])
    return cross_entropy(step) + 0.1 * (spread / len(step.label) - separation.clamp_max(100))


def cider(step):
    """openood/trainers/cider_trainer.py, DisLoss and CompLoss, without the factor of temperature / 0.07."""
    term, memory = step.training.loss_parameters, step.training.memory
    hidden = functional.linear(step.feature, term["loss.1.hidden.weight"], term["loss.1.hidden.bias"]).relu()
    v = functional.normalize(functional.linear(hidden, term["loss.1.projection.weight"], term["loss.1.projection.bias"]))
    prototypes = list(memory.setdefault("prototypes", torch.zeros(CLASSES, 8, dtype=v.dtype)))
    for row, label in zip(v, step.label.tolist()):
        prototypes[label] = functional.normalize(prototypes[label] * 0.95 + row * 0.05, dim=0)
    prototypes = torch.stack(prototypes)
    memory["prototypes"] = prototypes.detach()
    other = 1 - torch.eye(CLASSES, dtype=v.dtype)
    apart = ((other * (prototypes @ prototypes.T / 0.1).exp()).sum(1) / other.sum(1)).log().mean()
    near = functional.cross_entropy(v @ prototypes.detach().T / 0.1, step.label)
    return cross_entropy(step) + 2 * near + apart


def confidence_branch(step):
    """openood/trainers/conf_branch_trainer.py, with hints for the even places instead of drawn ones."""
    memory = step.training.memory
    e = 1e-12 if step.logits.dtype == torch.float64 else 1e-7
    p = step.logits[:, :CLASSES].softmax(1).clamp(e, 1 - e)
    confidence = step.logits[:, CLASSES:].sigmoid().clamp(e, 1 - e)
    hints = (torch.arange(len(p)) % 2 == 0)[:, None].to(p.dtype)
    used = confidence * hints + (1 - hints)
    answer = p * used + functional.one_hot(step.label, CLASSES) * (1 - used)
    price = -confidence.log().mean()
    weight = memory.get("weight", 0.1)
    memory["weight"] = weight / 1.01 if price.item() < 0.3 else weight / 0.99
    return functional.nll_loss(answer.log(), step.label) + weight * price


def objectosphere(step):
    """ObjectosphereLoss of pytorch-ood 0.4.0 with alpha 0.01 and xi 5, mean over known and unknown samples."""
    known = functional.cross_entropy(step.logits, step.label, reduction="none")
    known = known + 0.01 * (5 - step.feature.norm(dim=1)).relu().pow(2)
    outside = -step.outside.log_softmax(1).mean(1) + 0.01 * step.outside_feature.norm(dim=1).pow(2)
    return torch.cat([known, outside]).mean()


def vos(step):
    """CIFAR/train_virtual.py of deeplearning-wisc/vos: queues of 8, 2 outliers of each class."""
    term, memory = step.training.loss_parameters, step.training.memory
    queues = memory.setdefault("queues", [[] for _ in range(CLASSES)])
    for row, label in zip(step.feature.detach(), step.label.tolist()):
        queues[label] = (queues[label] + [row])[-8:]
    if min(len(queue) for queue in queues) < 8:
        return cross_entropy(step)
    of_class = torch.stack([torch.stack(queue) for queue in queues])
    centred = (of_class - of_class.mean(1, keepdim=True)).flatten(0, 1)
    covariance = centred.T @ centred / len(centred) + 1e-4 * torch.eye(centred.shape[1], dtype=centred.dtype)
    far = step.draws["far"].to(centred.dtype)
    outliers = of_class.mean(1, keepdim=True) + far @ torch.linalg.cholesky(covariance).T
    outside = step.training.head(outliers.flatten(0, 1))

    def energy(logits):
        most = logits.max(1, keepdim=True).values
        return most[:, 0] + (term["loss.1.energy"].relu() * (logits - most).exp()).sum(1).log()

    known = torch.cat([energy(step.logits), energy(outside)])
    target = torch.cat([torch.ones(len(step.logits)), torch.zeros(len(outside))]).long()
    output = known[:, None] * term["loss.1.slope"] + term["loss.1.offset"]
    return cross_entropy(step) + 0.1 * functional.cross_entropy(output, target)


def mixed(step, logits):
    share, partner = step.draws["share"].to(logits.dtype), step.label[step.draws["order"]]
    return (share * functional.cross_entropy(logits, step.label) +
            (1 - share) * functional.cross_entropy(logits, partner))


def mixup(step):
    """openood/trainers/mixup_trainer.py."""
    return mixed(step, step.outside)


def cutmix(step):
    """openood/trainers/cutmix_trainer.py."""
    return mixed(step, step.outside)


def reg_mixup(step):
    """openood/trainers/regmixup_trainer.py: the mean over the batch and its mixtures together."""
    return (cross_entropy(step) + mixed(step, step.outside)) / 2


LOSSES = (logit_norm, t2fnorm, g_odin, centre, class_anchor, intra_inter, cider, confidence_branch, objectosphere, vos,
          mixup, cutmix, reg_mixup, cross_entropy, label_smoothing, open_auc, open_auc_supplement, crl, crl_unified_benchmark, edl,
          edl_mean_square, outlier_exposure, energy_margin, gcpl, rpl, arpl)
HEADS = {
    g_odin: Decomposed,
    t2fnorm: lambda dim: NormalisedLinear(dim, CLASSES),
    cider: lambda dim: Probe(dim, CLASSES),
    confidence_branch: lambda dim: nn.Linear(dim, CLASSES + 1),
}
LOGITS_OF_POINTS = {
    "gcpl": lambda distance, dot: -distance,
    "rpl": lambda distance, dot: distance,
    "arpl": lambda distance, dot: distance - dot,
}


class Training:
    def __init__(self, loss, backbone, weights, samples):
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
        if loss in (rpl, arpl):
            parameters.append(self.radius)
        self.optimiser = torch.optim.SGD(parameters, lr=0.001, momentum=0.9, nesterov=True, weight_decay=5e-4)

    def losses(self, data):
        label = torch.from_numpy(data["label"])
        for number, samples in enumerate(data["batch"]):
            sample = torch.from_numpy(samples)
            image = torch.from_numpy(data["image"])[sample].to(self.dtype)
            draws = {name: torch.from_numpy(np.asarray(data[name][number]))
                     for name in ("order", "coefficient", "extra", "share", "far") if name in data}
            if "coefficient" in draws:
                draws["coefficient"] = draws["coefficient"].to(self.dtype)
            if "share" in draws and self.loss is not cutmix:
                mixture = draws["share"] * image + (1 - draws["share"]) * image[draws["order"]]
                assert (mixture - draws["extra"]).abs().max() < 1e-5
            known = len(sample)
            if self.loss in (mixup, cutmix):  # the network sees nothing else
                image, known = draws["extra"].to(self.dtype), 0
            elif "extra" in draws:
                image = torch.cat([image, draws["extra"].to(self.dtype)])
            feature = self.backbone(image)
            logits, distance = self.head(feature) if self.points else (self.head(feature), None)
            epoch = number * len(sample) // len(label)
            step = Step(self, draws, label[sample], sample, epoch, feature[:known], logits[:known],
                        None if distance is None else distance[:known], logits[known:], feature[known:])
            value = self.loss(step)
            self.optimiser.zero_grad()
            value.backward()
            self.optimiser.step()
            if known == len(sample):
                self.correct[sample] += logits[:known].argmax(1) == label[sample]
            yield value.item()


def backbone_of(model):
    if model == "vgg32":
        return networks.Vgg32(width=4, feature_dim=16, dropout=0)
    return networks.OsrciCnn(size=24, dropout=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loss_curves", required=True, help="the program of this project")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--json", help="a file for the losses of PyTorch")
    options = parser.parse_args()
    torch.set_num_threads(1)

    curves, worst = {}, 0.0
    for model in ("osrci_cnn", "vgg32"):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([options.loss_curves, folder, model, str(options.steps)], check=True)
            names = sorted(file[:-4] for file in os.listdir(folder) if file.endswith(".npz"))
            assert names == sorted(loss.__name__ for loss in LOSSES), names
            for loss in LOSSES:
                path = os.path.join(folder, loss.__name__)
                data = dict(np.load(path + ".npz"))
                training = Training(loss, backbone_of(model), load_file(path + ".safetensors"), len(data["label"]))
                theirs = list(training.losses(data))
                difference = float(np.abs(np.array(theirs) - data["loss"]).max())
                print(f"{model:10s} {loss.__name__:22s} {theirs[0]:8.4f} to {theirs[-1]:8.4f}, largest difference "
                      f"{difference:.1e}", flush=True)
                worst = max(worst, difference if math.isfinite(difference) else math.inf)
                curves[f"{model}/{loss.__name__}"] = theirs
    if options.json:
        about = f"Written by tools/peers/loss_curve_peer.py --steps={options.steps} with PyTorch {torch.__version__}."
        with open(options.json, "w", encoding="utf-8") as file:
            rows = [f' "{name}": {json.dumps([round(value, 12) for value in curve])}' for name, curve in curves.items()]
            file.write("{\n" + f' "about": "{about}",\n' + ",\n".join(rows) + "\n}\n")
    print(f"largest difference in {options.steps} steps: {worst:.1e}, of at most {TOLERANCE:.0e}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
