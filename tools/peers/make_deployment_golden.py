"""Writes eval/testdata/deployment.json: selective answers with a loss, unknown samples with a cost, decisions.

    python3 tools/peers/make_deployment_golden.py eval/testdata/deployment.json

By the released functions of lm-polygraph 0.7.0 (PredictionRejectionArea), torch-uncertainty 0.13.0 (SCODAURC,
SCODAUGRC, AURC) and pytorch-ood 0.4.0 (autc), which are loaded from their packages; expected costs by a loop over all
thresholds; net benefits by dcurves 1.1.7 (dca), the largest over the decisions score > t. Larger score = more unknown. The prediction-rejection ratio is (area - random) / (best - random), where the
random order has the mean quality; lm-polygraph draws 1,000 orders for it. Needs lm-polygraph, torch-uncertainty and
pytorch-ood (the sources suffice), dcurves, NumPy, PyTorch, torchmetrics and Matplotlib.
"""

import importlib.util
import json
import pathlib
import sys
import types

import numpy as np
import torch


def load(package, *parts):
    """One module of an installed package, without the package's own imports."""
    root = next(pathlib.Path(path) / package for path in sys.path if (pathlib.Path(path) / package).is_dir())
    name = package
    for part in ("",) + parts[:-1]:
        name = name + "." + part if part else name
        if name not in sys.modules:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [str(root.joinpath(*name.split(".")[1:]))]
    spec = importlib.util.spec_from_file_location(name + "." + parts[-1], root.joinpath(*parts).with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def expected_costs(score, loss, unknown):
    costs = {}
    for prevalence, unknown_cost, error_cost in ((0.5, 1, 0), (0.05, 10, 0), (0.2, 3, 2)):
        best = np.inf
        for threshold in [-np.inf] + sorted(set(score)):
            accepted = score <= threshold
            cost = prevalence * unknown_cost * accepted[unknown].mean()
            cost += (1 - prevalence) * (1 - accepted[~unknown].mean() + error_cost * (accepted * loss)[~unknown].mean())
            best = min(best, cost)
        costs[f"{prevalence:g},{unknown_cost},{error_cost}"] = float(best)
    return costs


def net_benefits(score, unknown):
    import pandas
    from dcurves import dca
    decisions = {f"d{i}": (score > t).astype(float) for i, t in enumerate([-np.inf] + sorted(set(score)))}
    table = pandas.DataFrame({"unknown": unknown.astype(int), **decisions})
    chances = [0.01, 0.1, 0.2, 0.35, 0.5, 0.8, 0.99]
    found = dca(data=table, outcome="unknown", modelnames=list(decisions), thresholds=chances)
    found = found[found["model"].isin(list(decisions))]
    return {f"{chance:g}": float(found[np.isclose(found["threshold"], chance)]["net_benefit"].max()) for chance in chances}


def case(name, rng, n, unknown_share, ties, graded):
    polygraph = load("lm_polygraph", "ue_metrics", "pred_rej_area").PredictionRejectionArea
    torch_uncertainty = load("torch_uncertainty", "metrics", "classification", "risk_coverage")
    scod = load("torch_uncertainty", "metrics", "classification", "scod_risk_coverage")
    pytorch_ood = load("pytorch_ood", "metrics", "functional")

    unknown = rng.random(n) < unknown_share
    # Multiples of 1/64 are exact as floats.
    loss = rng.integers(0, 65, n) / 64 if graded else (rng.random(n) < 0.3).astype(float)
    score = rng.normal(size=n) + 1.5 * unknown + loss
    score = np.round(score, 1) if ties else score
    expected = {}
    # Released code orders equal scores in its own ways.
    if not ties:
        known_score, quality = score[~unknown], 1 - loss[~unknown]
        for most in (1.0, 0.5):
            area = polygraph(most)
            best = area(-quality, quality)
            random = (quality.mean() - quality.min()) / (quality.max() - quality.min())
            expected[f"prr_{most:g}"] = float((area(known_score, quality) - random) / (best - random))
        for cost in (0.5, 0.2):
            for kind, metric in (("aurc", scod.SCODAURC(cost)), ("augrc", scod.SCODAUGRC(cost))):
                metric.update(torch.tensor(score), torch.tensor(loss), torch.tensor(unknown))
                expected[f"scod_{kind}_{cost:g}"] = float(metric.compute())
        for kind, metric in (("aurc", torch_uncertainty.AURC()), ("augrc", torch_uncertainty.AUGRC())):
            metric.scores, metric.errors = [torch.tensor(-known_score)], [torch.tensor(loss[~unknown])]
            expected[kind] = float(metric.compute())
    if unknown.any():
        expected["autc"] = float(pytorch_ood.autc(torch.tensor(score), torch.tensor(np.where(unknown, -1, 0))))
        expected["net_benefit"] = net_benefits(score, unknown)
        if not graded:
            expected["cost"] = expected_costs(score, loss, unknown)
    return {
        "name": name,
        "score": score.tolist(),
        "loss": loss.tolist(),
        "unknown": unknown.astype(int).tolist(),
        "expected": expected,
    }


def main():
    torch.set_default_dtype(torch.float64)  # of torch-uncertainty's coverages
    rng = np.random.default_rng(7)
    cases = [
        case("right_and_wrong", rng, 60, 0.3, False, False),
        case("graded", rng, 60, 0.3, False, True),
        case("ties", rng, 80, 0.4, True, False),
        case("graded_ties", rng, 80, 0.4, True, True),
        case("no_unknown", rng, 41, 0, False, True),
    ]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(json.dumps({"cases": cases}, indent=1) + "\n")


main()
