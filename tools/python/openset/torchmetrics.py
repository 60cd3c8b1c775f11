"""Metrics of openset as torchmetrics.Metric: OpenAUC, OSCR, AUGRC, or any by OpenSetMetric("fpr_at_95tpr").

    metric = openset.torchmetrics.OpenAUC()
    metric.update(logits, label)                       # label: -1 = unknown
    metric.compute()                                   # the number of openset.evaluate(), a tensor of float64
"""
from __future__ import annotations

from typing import Any, List, Optional

try:
    import torch
    import torchmetrics
    from torchmetrics.utilities import dim_zero_cat
except ImportError as error:
    raise ImportError(f"openset.torchmetrics needs torchmetrics: pip install torchmetrics ({error})") from None

from openset._evaluate import evaluate


class OpenSetMetric(torchmetrics.Metric):
    """A metric (`openset list metrics`) of all samples passed to update(), also in other processes."""

    is_differentiable = False
    full_state_update = False
    label: List[torch.Tensor]
    logits: List[torch.Tensor]
    unknown_score: List[torch.Tensor]

    def __init__(self, metric: str, score: Optional[str] = None, **settings: Any) -> None:
        """score: which score to compute from the logits, max_softmax by default. settings: of torchmetrics."""
        super().__init__(**settings)
        self.metric = metric
        self.score = score
        self.add_state("label", default=[], dist_reduce_fx="cat")
        self.add_state("logits", default=[], dist_reduce_fx="cat")
        self.add_state("unknown_score", default=[], dist_reduce_fx="cat")

    def update(self, logits: torch.Tensor, label: torch.Tensor, unknown_score: Optional[torch.Tensor] = None) -> None:
        """Adds samples: logits [N, K], label [N] with -1 = unknown, and, in every batch or in none, a score [N]."""
        if logits.dim() != 2 or label.shape != logits.shape[:1]:
            raise ValueError(f"logits: {list(logits.shape)} and label: {list(label.shape)} must be [N, K] and [N]")
        if self.logits and (unknown_score is not None) != bool(self.unknown_score):
            raise ValueError("unknown_score: give it in every batch or in none")
        if unknown_score is not None and unknown_score.shape != label.shape:
            raise ValueError(f"unknown_score: {list(unknown_score.shape)} must be [N], as label is")
        if unknown_score is not None and self.score is not None:
            raise ValueError(f"unknown_score: the metric computes '{self.score}' from the logits; give one of them")
        self.logits.append(logits.detach().float())
        self.label.append(label.detach().long())
        if unknown_score is not None:
            self.unknown_score.append(unknown_score.detach().double())

    def compute(self) -> torch.Tensor:
        """The metric, a scalar of float64; NaN if it is undefined."""
        scores = dim_zero_cat(self.unknown_score) if len(self.unknown_score) > 0 else None
        found = evaluate(label=dim_zero_cat(self.label), logits=dim_zero_cat(self.logits), unknown_score=scores,
                         score=self.score, metrics=self.metric)
        value = next((metric.get("value") for metric in found.metrics.values()), None)
        return torch.tensor(float("nan") if value is None else value, dtype=torch.float64)


class OpenAUC(OpenSetMetric):
    """The OpenAUC of Wang et al. 2022. Larger is better."""

    higher_is_better = True

    def __init__(self, score: Optional[str] = None, **settings: Any) -> None:
        super().__init__("openauc", score, **settings)


class OSCR(OpenSetMetric):
    """The area under the OSCR curve of Dhamija et al. 2018. Larger is better."""

    higher_is_better = True

    def __init__(self, score: Optional[str] = None, **settings: Any) -> None:
        super().__init__("oscr", score, **settings)


class AUGRC(OpenSetMetric):
    """The area under the generalised risk-coverage curve of Traub et al. 2024. Smaller is better."""

    higher_is_better = False

    def __init__(self, score: Optional[str] = None, **settings: Any) -> None:
        super().__init__("augrc", score, **settings)
