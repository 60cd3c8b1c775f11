"""OpenOOD's Evaluator with our scores and metrics, for your own loaders.

    evaluator = openset.openood.Evaluator(net, "cifar10", postprocessor_name="knn", dataloaders={
        "id": {"train": ..., "test": ...},
        "ood": {"near": {"cifar100": ..., "tin": ...}, "far": {"svhn": ...}}})
    evaluator.eval_ood()                               # OpenOOD's table, in percent
"""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

try:
    import torch
except ImportError as error:
    raise ImportError(f"openset.openood needs PyTorch: pip install 'openset[train]' ({error})") from None

from openset import _batches, scores
from openset._evaluate import Evaluation, evaluate

# OpenOOD's names of postprocessors that are neither our names nor synonyms of them.
_POSTPROCESSORS = {"msp": "max_softmax", "mls": "max_logit", "ebo": "energy", "mds": "mahalanobis",
                   "rmds": "relative_mahalanobis", "temp_scaling": "temperature_scaled_softmax"}
_COLUMNS = ("FPR@95", "AUROC", "AUPR_IN", "AUPR_OUT", "ACC")


class Evaluator:
    """Measures a network on a data set against sets of unknown samples, by OpenOOD v1.5's rules (docs/eval.md).

    id_name: the name of the data set in tables. postprocessor_name: OpenOOD's or our name of a score. `postprocessor`,
    instead, is a score with its fields, "knn { k: 50 }", or your own. dataloaders: as OpenOOD's dictionary of loaders,
    with batches (images, labels) or dicts of data and label; labels of unknown samples are not read. Only fitted scores
    need id.train. Each loader is run once.
    """

    def __init__(self, net: torch.nn.Module, id_name: str, postprocessor_name: Optional[str] = None,
                 postprocessor: Any = None, *, dataloaders: Mapping[str, Any], head: Optional[str] = None) -> None:
        if (postprocessor_name is None) == (postprocessor is None):
            raise ValueError("postprocessor_name: give it, or postprocessor")
        if "test" not in dataloaders.get("id", {}):
            raise ValueError("dataloaders: need ['id']['test']")
        self.net, self.id_name, self.dataloaders = net, id_name, dataloaders
        self.head = _batches.find_head(net, head)
        self.postprocessor = postprocessor
        if postprocessor_name is not None:
            self.postprocessor = _POSTPROCESSORS.get(postprocessor_name, postprocessor_name)
            if self.postprocessor not in scores.names():
                raise ValueError(f"postprocessor_name: '{postprocessor_name}' is not a score of openset that needs no "
                                 f"network; there are {', '.join(scores.names())}")
        self._outputs: Dict[Any, Dict[str, Any]] = {}

    def _run(self, *names: str) -> Dict[str, Any]:
        if names not in self._outputs:
            loader: Any = self.dataloaders
            for name in names:
                loader = loader[name]
            self._outputs[names] = _batches.run(self.net, loader, self.head)
        return self._outputs[names]

    def _fit(self) -> Optional[Dict[str, Any]]:
        return self._run("id", "train") if "train" in self.dataloaders["id"] else None

    def eval_acc(self) -> float:
        """The accuracy on id.test, in percent."""
        found = self._run("id", "test")
        return float(100 * (found["logits"].argmax(1) == found["label"]).mean())

    def evaluation(self) -> Evaluation:
        """All samples as openset.evaluate() measures them by OpenOOD's rules, with a group for each set."""
        import numpy
        known = self._run("id", "test")
        parts, groups = [known], [numpy.full(len(known["label"]), "", dtype=object)]
        roles: Dict[str, List[str]] = {"near": [], "far": []}
        for role, sets in self.dataloaders.get("ood", {}).items():
            if role not in roles:
                continue  # OpenOOD's "val", for choosing hyper-parameters
            for name in sets:
                found = self._run("ood", role, name)
                parts.append({**found, "label": numpy.full(len(found["logits"]), -1)})
                groups.append(numpy.full(len(found["logits"]), name, dtype=object))
                roles[role].append(name)
        if len(parts) == 1:
            raise ValueError("dataloaders: ['ood']['near'] and ['ood']['far'] name no set of unknown samples")
        arrays: Dict[str, Any] = {name: numpy.concatenate([part[name] for part in parts])
                                  for name in ("logits", "features", "label")}
        arrays.update({name: known[name] for name in ("head_weight", "head_bias") if name in known})
        return evaluate(**arrays, group=numpy.concatenate(groups).astype(str), score=self.postprocessor,
                        fit=self._fit(), convention="openood", near=roles["near"], far=roles["far"])

    def eval_ood(self) -> Any:
        """A pandas.DataFrame in percent: a row for each set, nearood and farood (their means), OpenOOD's columns."""
        import pandas
        found = self.evaluation()
        groups = found.json["groups"]
        rows, names = [], []
        for role in ("near", "far"):
            sets = [name for name in self.dataloaders.get("ood", {}).get(role, {})]
            for name in [*sets, f"mean of {role}"] if sets else []:
                metrics = groups[name]["metrics"] if name in groups else groups[sets[0]]["metrics"]
                rows.append([_percent(metrics.get(column, found.metrics[column])) for column in _COLUMNS])
                names.append(f"{role}ood" if name == f"mean of {role}" else name)
        return pandas.DataFrame(rows, index=names, columns=list(_COLUMNS))


def _percent(metric: Dict[str, Any]) -> Optional[float]:
    value = metric.get("value")
    return None if value is None else 100 * value
