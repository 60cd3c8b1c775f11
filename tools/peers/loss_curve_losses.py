"""The losses of loss_curve_peer.py in PyTorch, each from its paper or its authors' formula.

A loss takes a Step and returns its value; loss_curve_peer.py trains with each of LOSSES.
"""

import torch
from torch.nn import functional

CLASSES = 6
EPOCHS = 25


class Step:
    """The inputs of a loss in a step: the model's outputs, the labels and the random draws."""

    def __init__(self, training, draws, label, sample, epoch, feature, logits, distance, outside,
                 outside_feature, outside_distance, views):
        self.training, self.draws, self.label, self.sample, self.epoch = training, draws, label, sample, epoch
        self.feature, self.logits, self.distance, self.outside = feature, logits, distance, outside
        self.outside_feature, self.outside_distance, self.views = outside_feature, outside_distance, views


def cross_entropy(step):
    return functional.cross_entropy(step.logits, step.label)


def label_smoothing(step):
    """The released code of OpenAUC: 1 - e on the true class, e / (C - 1) on the others, e = 0.3."""
    target = torch.full_like(step.logits, 0.3 / (CLASSES - 1))
    target[torch.arange(len(step.label)), step.label] = 0.7
    return -(target * functional.log_softmax(step.logits, 1)).sum(1).mean()


def open_auc(step, surrogate=lambda margin: margin.pow(2), all_samples=False):
    """loss/OpenAUCLoss.py: the first half against a mixture of the second, over the valid pairs."""
    half = len(step.label) // 2
    order, mix = step.draws["order"], step.draws["coefficient"]
    first, second = step.feature[:half], step.feature[half:]
    mixture = step.training.head(mix * second + (1 - mix) * second[order])
    labels = step.label[half:]
    keep = labels != labels[order]
    if not all_samples:
        keep &= step.logits[:half].argmax(1) == step.label[:half]
    term = 0.0
    if keep.any():
        margin = 1 - step.logits[:half].max(1).values + mixture.max(1).values
        term = surrogate(margin[keep]).mean()
    assert len(first) == len(mixture)
    return cross_entropy(step) + 0.1 * term


def open_auc_hinge(step):
    return open_auc(step, lambda margin: margin.relu())


def open_auc_squared_hinge(step):
    return open_auc(step, lambda margin: margin.relu().pow(2))


def open_auc_logistic(step):
    """log(1 + exp(-t)), t = 1 - margin."""
    return open_auc(step, lambda margin: functional.softplus(margin - 1))


def open_auc_all_samples(step):
    """The objective Acc+AUC: known samples that are classified wrongly count too."""
    return open_auc(step, all_samples=True)


def open_auc_all_pairs(step):
    """Eq. 17: every known sample with every mixture, r = min_c P(y != c), wrong samples count 0."""
    order, mix = step.draws["order"], step.draws["coefficient"]
    mixture = step.training.head(mix * step.feature + (1 - mix) * step.feature[order])[step.label != step.label[order]]
    known = 1 - step.logits.softmax(1).max(1).values
    outside = 1 - mixture.softmax(1).max(1).values
    right = step.logits.argmax(1) == step.label
    pairs = [(1 - (outside - r)).pow(2).mean() if counts else torch.zeros_like(r) for r, counts in zip(known, right)]
    return cross_entropy(step) + 0.1 * torch.stack(pairs).mean()


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


def confusing_samples(step):
    """ARPLoss.fake_loss of iCGY96/ARPL on the distances, with a weight of 0.1 as in train_cs."""
    p = step.outside_distance.softmax(1)
    return arpl(step) + 0.1 * (p * p.log()).sum(1).mean().exp()


def jsd_consistency(step):
    """cifar.py of google-research/augmix: the batch and two views of it."""
    p = [logits.softmax(1) for logits in (step.logits, *step.views)]
    mixture = ((p[0] + p[1] + p[2]) / 3).clamp(1e-7, 1).log()
    divergence = sum(functional.kl_div(mixture, one, reduction="batchmean") for one in p) / 3
    return cross_entropy(step) + 12 * divergence


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
    """openood/trainers/cider_trainer.py, DisLoss and CompLoss, with a weight of 1.4, times its 0.1 / 0.07."""
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
    e = 1e-12
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


def entropic_open_set(step):
    """EntropicOpenSetLoss of pytorch-ood 0.4.0, over known and unknown samples together."""
    uniform = torch.full_like(step.outside, 1 / CLASSES)
    known = functional.cross_entropy(step.logits, step.label, reduction="sum")
    outside = functional.cross_entropy(step.outside, uniform, reduction="sum")
    return (known + outside) / (len(step.logits) + len(step.outside))


def background_class(step):
    """BackgroundClassLoss of pytorch-ood 0.4.0: unknown samples have the label after the known ones."""
    label = torch.cat([step.label, torch.full((len(step.outside),), CLASSES)])
    return functional.cross_entropy(torch.cat([step.logits, step.outside]), label)


def mix_oe(step):
    """openood/trainers/mixoe_trainer.py, with a weight of 1."""
    share = step.draws["share"].to(step.logits.dtype)
    label = share * functional.one_hot(step.label, CLASSES) + (1 - share) / CLASSES
    mixed_loss = -(label * step.outside.log_softmax(1)).sum(1).mean()
    return cross_entropy(step) + mixed_loss


def openmix(step):
    """The branch of OpenMix in train_cvpr.py of Impression2805/OpenMix, with a lambda_o of 1."""
    share = step.draws["share"].to(step.logits.dtype)
    last = torch.full_like(step.label, CLASSES)
    return (cross_entropy(step) + share * functional.cross_entropy(step.outside, step.label) +
            (1 - share) * functional.cross_entropy(step.outside, last))


def sam(step):
    return cross_entropy(step)


def sam_adaptive(step):
    return cross_entropy(step)


def cosine(step):
    return cross_entropy(step)


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


def proser(step):
    """proser_unknown_detection.py of CVPR21-Proser, with the whole batch as known samples and 0.5 in place of 0.01."""
    backbone, share = step.training.backbone, step.draws["coefficient"]
    x = backbone.before_last_stage(step.image[:len(step.image) // 2])
    outside = step.training.head(backbone.last_stage(share * x + (1 - share) * x[step.draws["order"]]))
    others = step.logits.clone()
    others[torch.arange(len(others)), step.label] = -1e9
    second = functional.cross_entropy(others, torch.full_like(step.label, CLASSES))
    return (cross_entropy(step) + second +
            0.5 * functional.cross_entropy(outside, torch.full((len(outside),), CLASSES)))


def scone(step):
    """The paper's Lagrangian with two multipliers (one tensor in CIFAR/train.py of deeplearning-wisc/scone), with the
    means of the training's own steps after an epoch."""
    term, memory = step.training.loss_parameters, step.training.memory

    def outside(logits, margin):
        return ((logits.logsumexp(1) - margin) * term["loss.0.slope"] + term["loss.0.offset"]).sigmoid()

    def gaps(alarm, entropy):
        return alarm - 0.05, entropy - 0.95 * memory.get("reference", sum(now[1] for now in steps) / len(steps))

    lagrangian = memory.setdefault("lagrangian", [[0.0, 1.0], [0.0, 1.0]])  # multiplier and weight
    steps = memory.setdefault("steps", [])
    if memory.setdefault("epoch", 0) < step.epoch:
        alarm, entropy = (sum(now[i] for now in steps) / len(steps) for i in (0, 1))
        memory.setdefault("reference", entropy)
        for part, gap in zip(lagrangian, gaps(alarm, entropy)):
            part[0] += gap if gap * part[1] + part[0] >= 0 else -part[0] / part[1]
            part[1] *= 1.5 if gap > 0 else 1
        steps.clear()
        memory["epoch"] = step.epoch
    alarm, entropy = outside(step.logits, 0).mean(), cross_entropy(step)
    steps.append((alarm.item(), entropy.item()))
    value = (1 - outside(step.outside, -1)).mean()
    for (multiplier, weight), gap in zip(lagrangian, gaps(alarm, entropy)):
        active = weight * gap + multiplier >= 0
        value = value + (gap * multiplier + weight / 2 * gap.pow(2) if active else -multiplier**2 * 0.5 / weight)
    return value


def rts(step):
    """openood/trainers/rts_trainer.py, without the cut of gradients."""
    logits, variance = step.logits[:, :CLASSES], step.logits[:, CLASSES:]
    noise = step.draws["noise"].to(logits.dtype)
    temperature = (variance * noise * noise).sum(1, keepdim=True) / (32 - 2)
    divergence = ((variance - torch.log(variance + 1e-8) - 1) * 0.5).mean()
    return functional.cross_entropy(logits / temperature, step.label) + 0.1 * divergence


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


LOSSES = (logit_norm, t2fnorm, g_odin, centre, class_anchor, intra_inter, cider, confidence_branch, objectosphere,
          entropic_open_set, background_class, mix_oe, openmix, sam, sam_adaptive, cosine, vos, proser, scone, rts, mixup, cutmix, reg_mixup, cross_entropy,
          label_smoothing, open_auc, open_auc_supplement, open_auc_all_pairs, open_auc_hinge, open_auc_squared_hinge,
          open_auc_logistic, open_auc_all_samples, crl, crl_unified_benchmark, edl, edl_mean_square, outlier_exposure,
          energy_margin, jsd_consistency, gcpl, rpl, arpl, confusing_samples)
OWN_RADIUS = (rpl, arpl, confusing_samples)
