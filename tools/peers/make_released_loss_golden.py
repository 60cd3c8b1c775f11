"""Writes losses/testdata/released_losses.json: loss terms by the released code of their authors, run as it is.

    python3 tools/peers/make_released_loss_golden.py SOURCES losses/testdata/released_losses.json

SOURCES is a folder of checkouts. The stored file was made with PyTorch 2.11.0 on x86-64, in double precision, and

    cider                  deeplearning-wisc/cider dce8ad3: CompLoss and DisLoss of utils/losses.py, as train_cider.py adds them
    cac-openset            dimitymiller/cac-openset bd9c7f5: CACLoss of train_cacOpenset.py
    confidence_estimation  uoguelph-mlrg/confidence_estimation c98f23d: the step of train.py, with hints for even places
    scone                  deeplearning-wisc/scone 119485b: the step and the end of an epoch of CIFAR/train.py, with two
                           multipliers as in the paper (lam2 = lam.cuda() makes them one tensor there)
    OpenMix                Impression2805/OpenMix f9906e0: the step of train_cvpr.py
    opennet                shrtCKT/opennet 3fe1f58: the two parts of the loss of opennet.py, with TensorFlow 2.21.0, for
                           whose first version it was written

and the package pytorch-ood 0.4.0.
"""

import ast
import functools
import json
import os
import re
import sys
from types import SimpleNamespace as Settings

import numpy as np
import torch
from torch import nn
from torch.nn import functional

CLASSES = 4
LABEL = [[0, 2, 1, 0, 3, 2], [3, 1, 1, 0, 2, 0]]  # of two steps


def cider(sources, draws):
    """Features of two steps that are not negative, so that they pass a relu; prototypes start at 0."""
    sys.path.insert(0, os.path.join(sources, "cider", "utils"))
    import losses
    settings = Settings(n_cls=CLASSES, feat_dim=3, proto_m=0.95)
    dispersion = losses.DisLoss.__new__(losses.DisLoss)
    nn.Module.__init__(dispersion)
    dispersion.args, dispersion.temperature, dispersion.base_temperature = settings, 0.1, 0.1
    dispersion.prototypes = torch.zeros(CLASSES, 3)
    compactness = losses.CompLoss(settings, temperature=0.1)
    steps = []
    for label in LABEL:
        x = draws(len(label), 3).abs().requires_grad_(True)
        v = functional.normalize(x, dim=1)
        before = dispersion.prototypes.clone()
        apart = dispersion(v, torch.tensor(label))
        value = 2 * compactness(v, dispersion.prototypes, torch.tensor(label)) + apart
        value.backward()
        steps.append({"feature": x.tolist(), "label": label, "value": value.item(), "gradient": x.grad.tolist()})
        assert not torch.equal(before, dispersion.prototypes)
    return steps


def class_anchor(sources, draws):
    with open(os.path.join(sources, "cac-openset", "train_cacOpenset.py")) as file:
        tree = ast.parse(file.read())
    function = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "CACLoss"]
    space = {"torch": torch, "cfg": {"num_known_classes": CLASSES}, "args": Settings(lbda=0.1)}
    exec(compile(ast.Module(function, []), "train_cacOpenset.py", "exec"), space)
    logits = (3 * draws(6, CLASSES)).requires_grad_(True)
    distance = torch.cdist(logits, 10 * torch.eye(CLASSES), compute_mode="donot_use_mm_for_euclid_dist")
    value = space["CACLoss"](distance, torch.tensor(LABEL[0]))[0]
    value.backward()
    return {"logits": logits.tolist(), "label": LABEL[0], "value": value.item(), "gradient": logits.grad.tolist()}


def confidence_branch(sources, draws):
    """Two steps, the second with the weight that the first left; one sample is surely wrong, one surely without hints."""
    with open(os.path.join(sources, "confidence_estimation", "train.py")) as file:
        text = file.read()
    step = text[text.index("        pred_original = F.softmax"):text.index("        total_loss.backward()")]
    step = re.sub("^        ", "", step, flags=re.M).replace(".data[0]", ".item()")
    torch.bernoulli = lambda of: (torch.arange(len(of)) % 2 == 0)[:, None].to(of.dtype)
    space = {
        "torch": torch,
        "F": functional,
        "Variable": lambda x: x,
        "lmbda": 0.1,
        "args": Settings(baseline=False, budget=0.3),
        "prediction_criterion": nn.NLLLoss()
    }
    steps = []
    for label in LABEL:
        logits = 2 * draws(len(label), CLASSES + 1)
        logits[1, label[1]] -= 25
        logits[2, CLASSES] -= 25
        logits.requires_grad_(True)
        space.update(pred_original=logits[:, :CLASSES],
                     confidence=logits[:, CLASSES:],
                     labels=torch.tensor(label),
                     labels_onehot=functional.one_hot(torch.tensor(label), CLASSES).to(logits.dtype))
        exec(step, space)
        space["total_loss"].backward()
        steps.append({
            "logits": logits.tolist(),
            "label": label,
            "value": space["total_loss"].item(),
            "gradient": logits.grad.tolist()
        })
    return steps


def between(path, first, last):
    """The lines from the one that starts with `first` to the one that ends with `last`, without their indentation."""
    with open(path) as file:
        text = file.read()
    found = text[text.index(first):]
    found = found[:found.index(last) + len(last)]
    indent = text[:text.index(first)].rpartition("\n")[2]
    return re.sub("^" + indent, "", found, flags=re.M)


def scone(sources, draws):
    """Three epochs of two steps: the first violates both constraints, the others none. The means after an epoch are those
    of its steps, where the code passes over the training samples once more."""
    path = os.path.join(sources, "scone", "CIFAR", "train.py")
    step = between(path, "loss_energy_in =", "loss = loss_ce + args.out_constraint_weight*loss_energy_out + in_loss")
    end = between(path, "in_term_constraint = avg_sigmoid_energy_losses", "ce_constraint_weight *= args.penalty_mult")
    regression = nn.Linear(1, 1)
    regression.weight.data.fill_(-0.75)
    regression.bias.data.fill_(2.25)
    space = {
        "torch": torch,
        "args": Settings(score="scone", eta=-1, false_alarm_cutoff=0.25, ce_tol=2, lr_lam=0.5, penalty_mult=1.5,
                         constraint_tol=0, out_constraint_weight=1),
        "logistic_regression": regression,
        "full_train_loss": 0.5,
        "lam": torch.tensor(0.0),
        "lam2": torch.tensor(0.0),
        "in_constraint_weight": 1,
        "ce_constraint_weight": 1,
        "state": {"in_dist_constraint": [], "train_loss_constraint": []},
        "wandb": Settings(log=lambda _: None),
        "print": lambda *_: None,
        "epoch": 0,
    }
    epochs = []
    for right in (-1, 6, 12):
        steps, alarms, entropies = [], [], []
        for label in LABEL:
            logits = draws(len(label), CLASSES) + right * functional.one_hot(torch.tensor(label), CLASSES)
            logits = logits.requires_grad_(True)
            wild = (draws(5, CLASSES) + 1).requires_grad_(True)
            entropy = functional.cross_entropy(logits, torch.tensor(label))
            space.update(x=torch.cat([logits, wild]), in_set=(logits,), loss_ce=entropy)
            exec(step, space)
            space["loss"].backward()
            alarms.append(space["loss_energy_in"].detach())
            entropies.append(entropy.detach())
            steps.append({"logits": logits.tolist(), "wild": wild.tolist(), "label": label,
                          "value": space["loss"].item(), "gradient": logits.grad.tolist(),
                          "wild_gradient": wild.grad.tolist()})
        space.update(avg_sigmoid_energy_losses=torch.stack(alarms).mean(), avg_ce_loss=torch.stack(entropies).mean())
        exec(end, space)
        epochs.append({"steps": steps, "multiplier": [space["lam"].item(), space["lam2"].item()],
                       "weight": [space["in_constraint_weight"], space["ce_constraint_weight"]]})
    return epochs


def intra_inter(sources, draws):
    """Its first part is a mean over dimensions, its second one a sum: they are given apart."""
    import tensorflow
    tf = tensorflow.compat.v1
    # The file as a whole is Python 2.
    methods = between(os.path.join(sources, "opennet", "opennet", "opennet.py"), "def bucket_mean(self", "return D")
    space = {"tf": tf}
    exec(methods, space)
    net = Settings(y_dim=CLASSES)
    for name in ("bucket_mean", "sq_difference_from_mean", "inter_intra_diff", "all_pair_distance"):
        setattr(net, name, functools.partial(space[name], net))
    feature, label = draws(6, 3).tolist(), LABEL[0]
    x = tf.constant(feature, tf.float64)
    with tensorflow.GradientTape(persistent=True) as tape:
        tape.watch(x)
        means = net.bucket_mean(x, tf.constant(label), CLASSES)
        parts = space["inter_separation_intra_spred"](net, x, tf.one_hot(label, CLASSES, dtype=tf.int32), means)
        parts = [tf.reduce_mean(part) for part in parts]
    return {"feature": feature, "label": label, "intra": float(parts[0]), "inter": float(parts[1]),
            "intra_gradient": tape.gradient(parts[0], x).numpy().tolist(),
            "inter_gradient": tape.gradient(parts[1], x).numpy().tolist()}


def pytorch_ood(_, draws):
    """Terms for six known and five open samples, and their gradients by the logits and the features."""
    from pytorch_ood import loss
    label = torch.tensor(LABEL[0] + [-1] * 5)
    known = label >= 0
    regression, weights = nn.Linear(1, 2), nn.Linear(CLASSES, 1)
    regression.weight.data, regression.bias.data = torch.tensor([[0.5], [-0.25]]), torch.tensor([0.125, -0.5])
    weights.weight.data = torch.tensor([[0.5, 2, -1, 0.25]])
    centre = loss.CenterLoss(CLASSES, 3)
    centre.centers.params.data = draws(CLASSES, 3)
    energy = loss.EnergyRegularizedLoss(1, -2.5, -1.5)
    terms = {
        "energy_margin { known_margin: -2.5 open_margin: -1.5 }":
            lambda z, _: energy(z, label) - functional.cross_entropy(z[known], label[known]),
        "outlier_exposure {}":
            lambda z, _: loss.OutlierExposureLoss(1, "none")(z, label)[~known].mean(),
        "objectosphere { feature_weight: 0.5 known_length: 2 }":
            lambda z, x: loss.ObjectosphereLoss(0.5, 2)(z, x, label),
        "objectosphere { feature_weight: 0 }":
            lambda z, _: loss.EntropicOpenSetLoss()(z, label),
        "outlier_energy {}":
            lambda z, _: loss.VOSRegLoss(regression, weights)._regularization(z, label),
        # Its mean is over classes too, and of whole distances.
        "centre {}":
            lambda _, x: centre(centre.distance(x), label) * CLASSES / 2,
    }
    parameters = {
        "outlier_energy {}": {
            "energy": weights.weight[0].tolist(),
            "slope": (-regression.weight[:, 0]).tolist(),  # its energy is the negative of the authors'
            "offset": regression.bias.tolist()
        },
        "centre {}": {
            "centre": centre.centers.params.tolist()
        },
    }
    inputs = {"logits": (2 * draws(11, CLASSES)), "features": (2 * draws(11, 3))}
    logits, features = (rows.requires_grad_(True) for rows in inputs.values())
    cases = []
    for term, of in terms.items():
        value = of(logits, features)
        gradients = torch.autograd.grad(value, [logits, features], allow_unused=True)
        found = {name: gradient.tolist() for name, gradient in zip(inputs, gradients) if gradient is not None}
        cases.append({"term": term, "parameters": parameters.get(term, {}), "value": value.item(), "gradient": found})
    return {"label": LABEL[0], **{name: rows.tolist() for name, rows in inputs.items()}, "cases": cases}


def defined(path, *names):
    """A namespace with functions and classes of a file that can't be imported."""
    with open(path) as file:
        tree = ast.parse(file.read())
    space = {"torch": torch, "nn": nn, "F": functional, "np": np, "BasePostprocessor": object, "Any": object}
    wanted = [node for node in tree.body if getattr(node, "name", None) in names]
    exec(compile(ast.Module(wanted, []), path, "exec"), space)
    return space


def with_gradients(value, inputs):
    gradients = torch.autograd.grad(value, list(inputs.values()))
    return {"value": value.item(), **{f"{name}_gradient": of.tolist() for name, of in zip(inputs, gradients)}}


def proser(sources, draws):
    """A step of a network of three layers; images are equal in all of their pixels. And the score of its outputs."""
    path = os.path.join(sources, "CVPR21-Proser", "proser_unknown_detection.py")
    space = defined(path, "dummypredict", "pre2block", "latter2blockclf1", "latter2blockclf2")
    layers = {"layer2": draws(3, 2), "layer3": draws(3, 3), "linear": draws(CLASSES, 3), "clf2": draws(1, 3)}

    class Net(Settings):
        def __call__(self, x):
            return space["latter2blockclf1"](self, space["pre2block"](self, x))

    def same(x):
        return x

    net = Net(conv1=same, layer1=same, bn1=same,
              layer2=lambda x: functional.conv2d(x, layers["layer2"][:, :, None, None]).relu(),
              layer3=lambda x: functional.conv2d(x, layers["layer3"][:, :, None, None]),
              linear=lambda x: x @ layers["linear"].T, clf2=lambda x: x @ layers["clf2"].T)
    image = draws(7, 2).requires_grad_(True)
    torch.manual_seed(3)
    space.update(net=net, criterion=nn.CrossEntropyLoss(), alpha=1, targets=torch.tensor(LABEL[0] + [1]),
                 inputs=image[:, :, None, None].expand(-1, -1, 8, 8),
                 args=Settings(backbone="WideResnet", known_class=CLASSES, lamda1=1, lamda2=1))
    exec(between(path, "totallenth=len(inputs)", "loss=0.01*loss1+args.lamda1*loss2+args.lamda2*loss3"), space)
    score = between(path, "embeddings=nn.functional.softmax(logitbatch/temperature,dim=1)\n                    dummyconf",
                    "conf=dummyconf-maxknownconf")
    logits = space["latterhalfoutput"].detach()
    space.update(logitbatch=logits, temperature=1024)
    exec(score, space)
    return {"image": image.tolist(), "label": space["targets"].tolist(), "share": space["beta"],
            "order": space["index"].tolist(), **{name: rows.tolist() for name, rows in layers.items()},
            "logits": logits.tolist(), "score": space["conf"][:, 0].tolist(),
            **with_gradients(space["loss"], {"image": image})}


def rts(sources, draws):
    """A step with the noise that seed 1 draws, and the outputs and the variance in evaluation after it."""
    folder = os.path.join(sources, "OpenOOD", "openood")
    torch.randn_like = lambda of: torch.empty_like(of.detach()).normal_(generator=torch.Generator().manual_seed(1))
    degrees, feature = 5, draws(6, 3).requires_grad_(True)
    weight, bias = draws(CLASSES, 3), draws(CLASSES)
    net = defined(os.path.join(folder, "networks", "rts_net.py"), "RTSNet")["RTSNet"](
        lambda x, return_feature: (functional.linear(x, weight, bias), x), 3, CLASSES, degrees)
    variance = [draws(degrees, 3), draws(degrees), 1 + draws(degrees) / 4, draws(degrees) / 4]
    for parameter, value in zip(net.logvar_rts.parameters(), variance):
        parameter.data = value
    space = {"torch": torch, "F": functional, "data": feature, "target": torch.tensor(LABEL[0]),
             "self": Settings(net=net, config=Settings(network=Settings(dof=degrees, kl_scale=0.1)))}
    exec(between(os.path.join(folder, "trainers", "rts_trainer.py"), "logits_classifier, variance =",
                 "loss = loss_head + self.config.network.kl_scale * loss_kl"), space)
    step = with_gradients(space["loss"], {"feature": feature})
    net.eval()
    postprocessor = defined(os.path.join(folder, "postprocessors", "rts_postprocessor.py"), "RTSPostprocessor")
    confidence = postprocessor["RTSPostprocessor"].postprocess(Settings(ood_score="var"), net, feature)[1]
    return {"feature": feature.tolist(), "label": LABEL[0],
            "parameters": {name: value.tolist() for name, value in zip(
                ("classifier.weight", "classifier.bias", "logvar_rts.0.weight", "logvar_rts.0.bias",
                 "logvar_rts.1.weight", "logvar_rts.1.bias"), (weight, bias, *variance))},
            **step, "confidence": confidence.tolist(), "logits": net(feature).tolist()}


def drawn(share, *centre):
    """NumPy, whose draws are these."""
    left = iter(centre)
    random = Settings(beta=lambda *_: share, randint=lambda _: next(left))
    return Settings(random=random, sqrt=np.sqrt, clip=np.clip, int=int)


def mix_oe(sources, draws):
    """A step of OpenOOD and one of the authors with the same draws, on images of 4 x 5 pixels and a linear network."""
    weight = draws(CLASSES, 20) / 4
    image, other = draws(3, 1, 4, 5), draws(3, 1, 4, 5)
    label = torch.tensor(LABEL[0][:3])
    found = []
    for path, last, own in (
        (os.path.join("OpenOOD", "openood", "trainers", "mixoe_trainer.py"), "loss = id_loss + self.lambda_oe * mixed_loss",
         lambda space: {"self": Settings(net=space["net"], criterion=space["SoftCE"](), alpha=0.1, beta=1, lambda_oe=1,
                                         mix_op="cutmix", num_classes=CLASSES)}),
        (os.path.join("MixOE", "train", "train_mixoe.py"), "loss = id_loss + args.beta * mixed_loss",
         lambda space: {"args": Settings(alpha=2, beta=5, mix_op="cutmix"), "soft_xent": space["SoftCE"](),
                        "num_classes": CLASSES})):
        path = os.path.join(sources, path)
        space = defined(path, "SoftCE", "rand_bbox")
        matrix = weight.clone().requires_grad_(True)
        one_hot = functional.one_hot(label, CLASSES).to(weight.dtype)
        space.update(net=lambda x: x.flatten(1) @ matrix.T, np=drawn(0.55, 3, 1), x=image, y=label, oe_x=other,
                     one_hot_y=one_hot, bs=3)
        space.update(own(space))
        exec(between(path, "# ID loss", last), space)
        window = [int(space[name]) for name in ("bbx1", "bbx2", "bby1", "bby2")]
        found.append({"share": float(space["lam"]), "window": window, "mixed": space["mixed_x"].tolist(),
                      **with_gradients(space["loss"], {"weight": matrix})})
    return {"image": image.tolist(), "other": other.tolist(), "label": label.tolist(), "weight": weight.tolist(),
            "drawn": 0.55, "centre": [3, 1], "openood": found[0], "authors": found[1]}


def windows(sources, _):
    """rand_bbox() of the authors for what DrawImageMix() draws with these seeds: a share and a centre."""
    draws = ((0, 8, 6, 0.23313231314445762, 0, 4), (1, 5, 7, 0.40024732089421516, 1, 5),
             (2, 8, 6, 0.43051049772602307, 2, 5), (3, 5, 7, 0.4464879601650158, 1, 2),
             (4, 8, 6, 0.5837504220792985, 5, 3), (5, 5, 7, 0.65794336968688738, 1, 3))
    found = []
    for seed, height, width, share, row, column in draws:
        space = defined(os.path.join(sources, "CutMix-PyTorch", "train.py"), "rand_bbox")
        space["np"] = drawn(share, row, column)
        top, left, bottom, right = (int(edge) for edge in space["rand_bbox"]((1, 1, height, width), share))
        found.append({"seed": seed, "height": height, "width": width, "drawn": share, "centre": [row, column],
                      "window": [top, bottom, left, right],
                      "share": 1 - (bottom - top) * (right - left) / (height * width)})
    return found


def mixed_labels(sources, draws):
    """CutMix's and RegMixup's losses of outputs that are given, and LogitNorm's."""
    logits = (2 * draws(6, CLASSES)).requires_grad_(True)
    label, other = torch.tensor(LABEL[0]), torch.tensor(LABEL[1])
    space = {"criterion": nn.CrossEntropyLoss(), "output": logits, "target_a": label, "target_b": other, "lam": 0.3}
    exec(between(os.path.join(sources, "CutMix-PyTorch", "train.py"), "loss = criterion(output, target_a)",
                 "* (1. - lam)"), space)
    criterion = defined(os.path.join(sources, "RegMixup", "models", "regmixup.py"), "regmixup_criterion")
    known = (2 * draws(6, CLASSES)).requires_grad_(True)
    both = criterion["regmixup_criterion"](functional.cross_entropy, torch.cat([known, logits]),
                                           torch.cat([label, label]), torch.cat([label, other]), 0.3)
    path = os.path.join(sources, "OpenOOD", "openood", "trainers", "logitnorm_trainer.py")
    logit_norm = defined(path, "LogitNormLoss")["LogitNormLoss"](0.04)(known, label)
    return {"known": known.tolist(), "logits": logits.tolist(), "label": LABEL[0], "partner": LABEL[1], "share": 0.3,
            "cutmix": with_gradients(space["loss"], {"logits": logits}),
            "regmixup": with_gradients(both, {"known": known, "logits": logits}),
            "logit_norm": with_gradients(logit_norm, {"known": known})}


def vos(sources, draws):
    """The step after queues of 3 are full, 2 of whose features it replaces. Of 40 draws it takes the 2 farthest, which are
    given as multiples of the standard deviations."""
    path = os.path.join(sources, "vos", "classification", "CIFAR", "train_virtual.py")
    space = defined(path, "log_sum_exp")
    dim, queue, weight = 3, draws(CLASSES, 3, 3), draws(CLASSES, 3)
    feature = draws(6, dim).requires_grad_(True)
    regression, energy = nn.Linear(1, 2), nn.Linear(CLASSES, 1)
    regression.weight.data, regression.bias.data = torch.tensor([[0.5], [-0.25]]), torch.tensor([0.125, -0.5])
    energy.weight.data = torch.tensor([[0.5, 2, -1, 0.25]])
    made = []
    exact = torch.distributions.multivariate_normal.MultivariateNormal

    def normal(*args, **named):
        made.append(exact(*args, **named))
        return made[-1]

    distributions = Settings(multivariate_normal=Settings(MultivariateNormal=normal))
    names = ("zeros", "ones", "cat", "mm", "topk", "nn", "max", "log", "sum", "exp")
    space["torch"] = Settings(distributions=distributions, **{name: getattr(torch, name) for name in names})
    logits = feature @ weight.T
    space.update(number_dict=[3] * CLASSES, num_classes=CLASSES, epoch=41, target=torch.tensor(LABEL[0]), x=logits,
                 args=Settings(sample_number=3, start_epoch=40, sample_from=40, select=2, loss_weight=0.1),
                 output=feature, data_dict=list(queue.clone()), eye_matrix=torch.eye(dim), weight_energy=energy,
                 net=Settings(fc=lambda rows: rows @ weight.T), logistic_regression=regression)
    torch.manual_seed(2)
    exec(between(path, "sum_temp = 0", "lr_reg_loss = criterion(output1, labels_for_lr.long())"), space)
    exec("loss = F.cross_entropy(x, target)\nloss += args.loss_weight * lr_reg_loss", space)
    outliers = space["ood_samples"].view(CLASSES, 2, dim)
    far = torch.stack([torch.linalg.solve(of.scale_tril, (rows - of.loc).T).T for of, rows in zip(made, outliers)])
    return {"queue": queue.tolist(), "feature": feature.tolist(), "label": LABEL[0], "weight": weight.tolist(),
            "parameters": {"energy": energy.weight[0].tolist(), "slope": regression.weight[:, 0].tolist(),
                           "offset": regression.bias.tolist()},
            "far": far.tolist(), "outliers": outliers.flatten(0, 1).tolist(),
            **with_gradients(space["loss"], {"feature": feature})}


def extra_class(sources, draws):
    """Outputs of K + 1 classes: pytorch-ood's background class, and OpenMix's step on mixed images."""
    from pytorch_ood import loss
    known, outside = (draws(rows, CLASSES + 1).requires_grad_(True) for rows in (6, 6))
    label = torch.tensor(LABEL[0])
    inputs = {"known": known, "outside": outside}
    background = loss.BackgroundClassLoss(CLASSES)(torch.cat([known, outside]), torch.cat([label, torch.full((6,), -1)]))
    space = {"torch": torch, "F": functional, "args": Settings(classnumber=CLASSES, lambda_o=1), "lam": 0.375,
             "in_data": known, "in_oe": outside, "target": label, "logits": torch.cat([known, outside])}
    exec(between(os.path.join(sources, "OpenMix", "train_cvpr.py"), "target_oe = torch.LongTensor(in_oe.shape[0])",
                 "loss = loss_in + args.lambda_o * loss_oe"), space)
    found = {name: with_gradients(value, inputs) for name, value in (("background", background),
                                                                     ("openmix", space["loss"]))}
    return {"label": LABEL[0], "share": space["lam"], **{name: rows.tolist() for name, rows in inputs.items()}, **found}


def main():
    sources, path = sys.argv[1:]
    torch.set_default_dtype(torch.float64)
    torch.Tensor.cuda = lambda self, *_: self
    torch.Tensor.float = torch.Tensor.double
    random = torch.Generator().manual_seed(51)

    def draws(*shape):
        return (torch.randn(*shape, generator=random) * 1000).round() / 1000

    golden = {"about": "Made by tools/peers/make_released_loss_golden.py."}
    for part in (cider, class_anchor, confidence_branch, scone, intra_inter, pytorch_ood, proser, rts, mix_oe, windows,
                 mixed_labels, vos, extra_class):
        golden[part.__name__] = part(sources, draws)
    with open(path, "w") as file:
        file.write(
            json.dumps(golden, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]").replace(
                ', "', ',\n"') + "\n")


if __name__ == "__main__":
    main()
