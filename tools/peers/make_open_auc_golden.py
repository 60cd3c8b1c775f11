"""Makes losses/testdata/open_auc.json: OpenAUC's objective in its three forms, written from their descriptions alone.

    python3 tools/peers/make_open_auc_golden.py > losses/testdata/open_auc.json      (PyTorch 2, any version)

    released    the two halves of a batch, as the authors' code does it
    supplement  the batch and its mixture at the same slot (appendix D), scored by Definition 1
    equation_17 every known with every generated sample

Loops over samples on purpose: nothing here is shared with the C++ code but the inputs. `order` and `coefficient` are the
draws of RandomStream(1, "golden"): a permutation, then one Beta(2, 2).
"""
import json
import re

import torch

torch.set_default_dtype(torch.float64)

FEATURE = [[0.9, -0.4, 0.3, 1.2, -0.7], [-1.1, 0.8, 0.2, -0.3, 0.5], [0.4, 1.3, -0.9, 0.1, 0.6],
           [1.5, -0.2, -0.6, 0.7, -1.3], [-0.5, 0.1, 1.4, -1.2, 0.3], [0.2, -1.6, 0.5, 0.9, 1.1],
           [-0.8, 0.6, -0.1, 1.0, -0.2], [1.0, 0.7, -1.5, -0.4, 0.8]]
WEIGHT = [[1.1, -0.5, 0.2, 0.6, -0.9], [-0.7, 1.2, -0.4, -0.1, 0.3], [0.1, -0.3, 1.3, -0.8, 0.4],
          [-0.2, 0.5, -0.6, 0.9, 0.7]]
LABEL = [0, 1, 3, 0, 2, 1, 3, 1]
COEFFICIENT = 0.1129894497558281
ORDER_OF_4 = [3, 1, 0, 2]
ORDER_OF_8 = [7, 3, 6, 4, 0, 5, 1, 2]


def cross_entropy(logits, smoothing):
    classes = logits.shape[1]
    total = 0
    for z, y in zip(logits, LABEL):
        for c in range(classes):
            target = 1 - smoothing if c == y else smoothing / (classes - 1)
            total = total - target * (z[c] - torch.log(torch.sum(torch.exp(z))))
    return total / len(LABEL)


def right(z, y):
    return max(range(len(z)), key=lambda c: z[c].item()) == y


def released(feature, weight):
    half = len(LABEL) // 2
    kept = []
    for i in range(half):
        a, b = half + i, half + ORDER_OF_4[i]
        mixture = weight @ (COEFFICIENT * feature[a] + (1 - COEFFICIENT) * feature[b])
        known = weight @ feature[i]
        if LABEL[a] != LABEL[b] and right(known, LABEL[i]):
            kept.append((1 - torch.max(known) + torch.max(mixture))**2)
    return sum(kept) / len(kept)


def mixtures(feature, weight):
    for i, j in enumerate(ORDER_OF_8):
        if LABEL[i] != LABEL[j]:
            yield i, weight @ (COEFFICIENT * feature[i] + (1 - COEFFICIENT) * feature[j])


def supplement(feature, weight):
    def score(z):
        return 1 - torch.max(torch.exp(z) / torch.sum(torch.exp(z)))

    total, pairs = 0, 0
    for i, mixture in mixtures(feature, weight):
        pairs += 1
        known = weight @ feature[i]
        if right(known, LABEL[i]):
            total = total + (1 - (score(mixture) - score(known)))**2
    return total / pairs


def equation_17(feature, weight):
    total, pairs = 0, 0
    for _, mixture in mixtures(feature, weight):
        for i in range(len(LABEL)):
            pairs += 1
            known = weight @ feature[i]
            if right(known, LABEL[i]):
                total = total + (1 - (torch.max(known) - torch.max(mixture)))**2
    return total / pairs


FORMS = [
    (released, 0.05, 0, "mixed: SECOND_HALF", "pairs: SAME_SLOT unknown_score: NEGATIVE_MAX_LOGIT mean: KEPT_PAIRS"),
    (supplement, 0.1, 0.3, "mixed: WHOLE_BATCH", "pairs: SAME_SLOT unknown_score: MIN_MISCLASSIFICATION mean: ALL_PAIRS"),
    (equation_17, 0.2, 0.9, "mixed: WHOLE_BATCH", "pairs: ALL unknown_score: NEGATIVE_MAX_LOGIT mean: ALL_PAIRS"),
]


def main():
    cases = []
    for form, strength, smoothing, mixup, term in FORMS:
        feature = torch.tensor(FEATURE, requires_grad=True)
        weight = torch.tensor(WEIGHT, requires_grad=True)
        ce = cross_entropy(feature @ weight.T, smoothing)
        auc = form(feature, weight)
        total = ce + strength * auc
        total.backward()
        cases.append({
            "name": form.__name__,
            "feature_mixup": mixup,
            "cross_entropy": f"label_smoothing: {smoothing}",
            "open_auc": f"lambda: {strength} open_auc {{ {term} }}",
            "expected": {
                "cross_entropy": ce.item(),
                "open_auc": strength * auc.item(),
                "grad_feature": feature.grad.tolist(),
                "grad_weight": weight.grad.tolist(),
            },
        })
    text = json.dumps({"feature": FEATURE, "weight": WEIGHT, "label": LABEL, "cases": cases}, indent=1)
    print(re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", text))


if __name__ == "__main__":
    main()
