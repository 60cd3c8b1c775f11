"""Scores as detectors of torch networks, in the interface of pytorch-ood.

    detector = openset.detectors.Detector("knn { k: 50 }", model, head="fc").fit(train_loader)
    outlier_score = detector(images)                   # [B] of float64, larger = more unknown
"""
from __future__ import annotations

from typing import Any, Dict, Iterable, Optional

try:
    import torch
except ImportError as error:
    raise ImportError(f"openset.detectors needs PyTorch: pip install 'openset[train]' ({error})") from None

from openset import _arrays, _batches
from openset._evaluate import scored


class Detector:
    """A score (as in evaluate(), also your own) of a network's logits and of the input of its last layer."""

    def __init__(self, score: Any, model: torch.nn.Module, head: Optional[str] = None) -> None:
        self.score = score
        self.model = model
        self.head = _batches.find_head(model, head)
        self._fit: Optional[Dict[str, Any]] = None

    def fit(self, loader: Iterable[Any], device: Any = None) -> "Detector":
        """Stores the outputs of training samples; those with a label below 0 are ignored, as in pytorch-ood."""
        if device is not None:
            self.model.to(device)
        arrays = _batches.run(self.model, loader, self.head)
        known = arrays["label"] >= 0
        if not known.any():
            raise ValueError("loader: has no known sample (label 0 or more)")
        self._fit = {name: values[known] if name in ("label", "logits", "features") else values
                     for name, values in arrays.items()}
        return self

    def fit_features(self, z: torch.Tensor, y: torch.Tensor) -> "Detector":
        """The same for features [N, D], the inputs of the last layer, and labels [N]."""
        known = (y >= 0).cpu()
        if not known.any():
            raise ValueError("y: has no known sample (label 0 or more)")
        self._fit = {**self._outputs(z.cpu()[known]), "label": _arrays.to_numpy("y", y.cpu()[known])}
        return self

    def predict(self, x: torch.Tensor) -> torch.Tensor:
        """The score of each image of a batch, [B] of float64."""
        return self._measure(_batches.run(self.model, [x], self.head, labelled=False))

    __call__ = predict

    def predict_features(self, z: torch.Tensor) -> torch.Tensor:
        """The score of each sample by its features [B, D]."""
        return self._measure(self._outputs(z))

    def _outputs(self, z: torch.Tensor) -> Dict[str, Any]:
        layer = dict(self.model.named_modules())[self.head]
        device = next((parameter.device for parameter in layer.parameters()), torch.device("cpu"))
        with torch.inference_mode():
            logits = layer(z.to(device)).float().cpu().numpy()
        return {"logits": logits, "features": z.detach().float().cpu().numpy(), **_batches.head_arrays(layer)}

    def _measure(self, arrays: Dict[str, Any]) -> torch.Tensor:
        import numpy
        labelled = {**arrays, "label": numpy.zeros(len(arrays["logits"]), numpy.int64)}
        return torch.from_numpy(scored(labelled, self.score, self._fit)["unknown_score"])
