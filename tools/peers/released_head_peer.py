"""Runs released heads, a loss and a function of feature maps, and compares what they return with the numbers in our tests.

    python3 tools/peers/released_head_peer.py SOURCES

SOURCES is a folder of checkouts by the names below, whose files are run as they are, in double precision. Prints each
output, and fails if a test of ours lacks a number of it. Tried with PyTorch 2.11.0 on x86-64 and

    OpenOOD                Jingkang50/OpenOOD 3c35632: T2FNormNet, and GodinNet with its three similarities
    SURE                   YutingLi0606/SURE a355ecf: Classifier of model/classifier.py
    NIPS2019DeepGamblers   Z-T-WANG/NIPS2019DeepGamblers 0d1b595: the loss in train() of main.py
    gram-ood-detection     VectorInstitute/gram-ood-detection e15126c: G_p() of ResNet_Cifar10.ipynb
"""

import os
import re
import sys

import torch
from make_openood_golden import load
from make_released_golden import cells
from make_released_loss_golden import between

FEATURE = torch.tensor([[0., 2], [2, 0], [1, 1]], dtype=torch.float64)


def backbone(head):
    """A network whose features are its input."""
    of = torch.nn.Module()
    of.fc = head
    of.forward = lambda x, return_feature: (None, x)
    return of


def linear(weight, bias):
    of = torch.nn.Linear(len(weight[0]), len(weight))
    of.weight.data, of.bias.data = torch.tensor(weight), torch.tensor(bias)
    return of


def t2fnorm(sources):
    module = load(os.path.join(sources, "OpenOOD", "openood", "networks"), "t2fnorm_net", "networks")
    of = module.T2FNormNet(backbone(linear([[1., 2], [3, 4], [5, 6]], [0.5, 0, -1])), 3)
    of.set_tau(0.1)
    return {"training": of(FEATURE), "inference": of.forward_ood_inference(FEATURE)}


def g_odin(sources):
    module = load(os.path.join(sources, "OpenOOD", "openood", "networks"), "godin_net", "networks")
    found = {}
    for similarity in ("cosine", "inner", "euclid"):
        of = module.GodinNet(backbone(None), 2, 2, similarity)
        of.h.h.weight.data = torch.tensor([[1., 0], [3, 4]])
        if similarity == "inner":
            of.h.h.bias.data = torch.tensor([0.5, -1])
        of.g[0] = linear([[1., 0]], [0.])
        found[similarity + ", training"] = of(FEATURE)
        of.eval()
        found[similarity + ", inference"] = of(FEATURE, inference=True)
    return found


def sure(sources):
    module = load(os.path.join(sources, "SURE", "model"), "classifier", "sure")
    of = module.Classifier(2, 3, 3)
    of.weight.data = torch.tensor([[1., 0], [3, 4], [0, 0]]).T
    return {"logits": of(torch.tensor([[1, 2], [-3, 0.5]]))}


def deep_gamblers(sources):
    step = between(os.path.join(sources, "NIPS2019DeepGamblers", "main.py"), "outputs = F.softmax",
                   "loss = -doubling_rate.mean()")
    found = {}
    for reward in (6, 2.2):
        logits = torch.tensor([[1.5, -0.5, 0.25, 2], [0, 3, -1, 0.5], [-2, 0.5, 0.75, -1]], requires_grad=True)
        space = {"torch": torch, "F": torch.nn.functional, "outputs": logits, "targets": torch.tensor([0, 1, 1]), "reward": reward}
        exec(step, space)
        found[f"loss at {reward}"] = space["loss"]
    return {**found, "gradient": torch.autograd.grad(space["loss"], logits)[0]}


def gram(sources):
    """And the formula of the test, on maps that are drawn."""
    power_sums = cells(os.path.join(sources, "gram-ood-detection", "ResNet_Cifar10.ipynb"), "G_p(")["G_p"]
    maps = torch.randn(2, 3, 2, 2, generator=torch.Generator().manual_seed(1))
    for power in range(1, 11):
        f = maps.flatten(2).pow(power)
        sums = f.matmul(f.transpose(1, 2)).sum(2)
        torch.testing.assert_close(power_sums(maps, power), sums.sign() * sums.abs().pow(1 / power), rtol=1e-12, atol=0)
    two = torch.tensor([1., -2])[None, :, None, None]
    return {"first power": power_sums(two, 1)[0, :1], "second power, squared": power_sums(two, 2)[0, 1:] ** 2}


TESTS = {
    t2fnorm: ("models/heads/linear_test.cc", "NormalisesAsOpenOodsT2FNorm"),
    g_odin: ("models/heads/decomposed_test.cc", "IsOpenOods"),
    sure: ("models/heads/cosine_test.cc", "IsSures"),
    deep_gamblers: ("losses/deep_gamblers_test.cc", "AgreesWithTheReleasedCode"),
    gram: ("experiments/infer/stage_predictors_test.cc", "AreRootsOfRowSumsOfGramMatrices"),
}


def numbers(path, test):
    """Those of the test's body."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(root, path), encoding="utf-8") as file:
        body = re.search(r"TEST(?:_F)?\(\w+, " + test + r"\) \{\n(.*?)\n\}", file.read(), re.DOTALL)[1]
    return [float(text) for text in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", body)]


def main():
    sources, = sys.argv[1:]
    torch.set_default_dtype(torch.float64)
    missing = 0
    for of, (path, test) in TESTS.items():
        written = numbers(path, test)
        for what, values in of(sources).items():
            print(f"{of.__name__}, {what}: {values.tolist()}")
            for value in values.flatten().tolist():
                if min(abs(value - number) for number in written) > 1e-9:
                    missing += 1
                    print(f"  {path}, {test}: lacks {value}")
    print(f"{missing} numbers are missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
