"""The ends of a training script for methods with `training.command` (docs/trainer.md).

    import openset.trainer
    trial = openset.trainer.load()
    for epoch in trial.epochs():
        for images, labels in trial.train(batch_size=128, epoch=epoch):
            ...
        trial.progress(epoch, loss=loss)
    trial.finish(lambda images: network(images))
"""
from __future__ import annotations

import json
import os

from openset import _collect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, Optional, Tuple

_OUTPUTS = {"test": "outputs.npz", "train": "fit.npz", "validation": "validation_outputs.npz"}


class Trial:
    """What openset asks the script to train.

    seed; device, "cpu" or "cuda" (the GPU that the script may use is the only one it sees); threads; precision;
    class_names of labels 0, 1, ...; parameters, the method's own; method, its other fields, with all defaults; state, a
    folder that a later attempt at the same training finds as it was left.
    """

    def __init__(self, path: str) -> None:
        with open(path, encoding="utf-8") as file:
            trial = json.load(file)
        if trial.get("format") != 1:
            raise ValueError(f"{path}: is of format {trial.get('format')}, and this openset reads 1")
        self.folder = os.path.dirname(os.path.abspath(path))
        self.state = os.path.join(self.folder, "state")
        self.seed = int(trial["seed"])
        self.device: str = trial["device"]
        self.precision: str = trial["precision"]
        self.threads = int(trial["threads"])
        self.class_names = list(trial["class_names"])
        self.parameters: Dict[str, str] = trial["parameters"]
        self.method: Dict[str, Any] = trial["method"]
        self._parts: Dict[str, _collect.Samples] = {}

    def get(self, path: str, default: Any = None) -> Any:
        """A field of the method: get("training.optimizer.learning_rate"). Whole numbers of 64 bits are texts."""
        found: Any = self.method
        for name in path.split("."):
            if not isinstance(found, dict) or name not in found:
                return default
            found = found[name]
        return found

    def number_of_epochs(self, default: Optional[int] = None) -> int:
        """Of the training, or of the rung of a search at which it stops."""
        epochs = int(self.get("training.epochs", default if default is not None else 0))
        if epochs < 1:
            raise ValueError("training.epochs: the method sets none")
        stop = int(self.get("training.stop_after_epochs", 0))
        return min(stop, epochs) if stop > 0 else epochs

    def epochs(self, default: Optional[int] = None, after: int = 0) -> range:
        """The numbers of the epochs, from 1; `after`: those that the script has resumed from its state."""
        return range(after + 1, self.number_of_epochs(default) + 1)

    def set_seeds(self) -> None:
        """Seeds Python, NumPy and, if it is installed, PyTorch; PyTorch uses the trial's threads and deterministic
        algorithms."""
        import random

        import numpy
        random.seed(self.seed)
        numpy.random.seed(self.seed % 2**32)
        try:
            import torch
        except ImportError:
            return
        torch.manual_seed(self.seed)
        torch.set_num_threads(self.threads)
        torch.use_deterministic_algorithms(True, warn_only=True)

    def samples(self, part: str) -> _collect.Samples:
        """The samples of "train", "test", "validation" or "external": images, labels (-1: unknown), groups."""
        if part not in self._parts:
            import numpy
            path = os.path.join(self.folder, part + ".npz")
            if not os.path.exists(path):
                raise ValueError(f"this trial has no samples '{part}'")
            with numpy.load(path) as arrays:
                self._parts[part] = _collect.Samples(dict(arrays))
        return self._parts[part]

    def has(self, part: str) -> bool:
        return os.path.exists(os.path.join(self.folder, part + ".npz"))

    def batches(self, part: str, batch_size: int = 256, order: Any = None) -> Iterator[Tuple[Any, Any]]:
        """(inputs, labels) of all samples, in their order or in `order`: f32 [B, C, H, W], resized to method.input.size
        and normalised by its mean and std, or features f32 [B, D]; i64 [B]."""
        import numpy
        samples = self.samples(part)
        indices = numpy.arange(len(samples)) if order is None else numpy.asarray(order)
        for begin in range(0, len(indices), batch_size):
            some = indices[begin:begin + batch_size]
            yield self._inputs(samples, some), samples.arrays["label"][some]

    def train(self, batch_size: Optional[int] = None, epoch: int = 1) -> Iterator[Tuple[Any, Any]]:
        """batches() of the training samples in an order that depends on the seed and the epoch alone; by default of
        training.batch_size."""
        import numpy
        size = int(batch_size or self.get("training.batch_size", 128))
        order = numpy.random.default_rng([self.seed, epoch]).permutation(len(self.samples("train")))
        return self.batches("train", size, order)

    def arrays(self, part: str) -> Tuple[Any, Any]:
        """(inputs, labels) of a part as a whole, for methods without batches."""
        import numpy
        both = list(self.batches(part))
        return numpy.concatenate([inputs for inputs, _ in both]), numpy.concatenate([labels for _, labels in both])

    def _inputs(self, samples: _collect.Samples, some: Any) -> Any:
        import numpy
        if "features" in samples.arrays:
            return samples.arrays["features"][some]
        to = {name: self.get("input." + name) for name in ("size", "channels", "mean", "std")}
        to = {name: value for name, value in to.items() if value is not None}
        return numpy.stack([_collect._prepared(samples[int(i)].image, **to) for i in some])

    def progress(self, epoch: int, loss: Optional[float] = None) -> None:
        """Shows that an epoch (from 1) is over, and its mean loss; the record keeps both."""
        line: Dict[str, Any] = {"epoch": epoch}
        if int(self.get("training.epochs", 0)) > 0:
            line["epochs"] = self.number_of_epochs()
        if loss is not None:
            line["loss"] = float(loss)
        with open(os.path.join(self.folder, "progress.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def finish(self, predict: Callable[[Any], Any], head: Optional[Tuple[Any, Any]] = None,
               batch_size: int = 256) -> None:
        """Writes the outputs for the test samples, for the training samples, to which scores are fitted, and for the
        validation samples, if there are any.

        predict: from the inputs of a batch to logits [B, K], or (logits, features [B, D]), as arrays or tensors.
        head: weight [K, D] and bias [K] of the linear layer after the features, for scores that need it.
        """
        for part in ("test", "train", "validation"):
            if self.has(part):
                self.write(part, [predict(inputs) for inputs, _ in self.batches(part, batch_size)], head)

    def write(self, part: str, batches: Any, head: Optional[Tuple[Any, Any]] = None) -> None:
        """Writes the outputs for one part: a list of logits, or of (logits, features), whose rows are its samples."""
        import numpy
        logits, features = [], []
        for found in batches:
            pair = found if isinstance(found, (tuple, list)) else (found,)
            logits.append(_collect._array(pair[0]))
            if len(pair) > 1:
                features.append(_collect._array(pair[1]))
        arrays: Dict[str, Any] = {"logits": numpy.concatenate(logits)}
        if features:
            arrays["features"] = numpy.concatenate(features)
        if head is not None:
            arrays["head_weight"], arrays["head_bias"] = (_collect._array(one) for one in head)
        path = os.path.join(self.folder, _OUTPUTS[part])
        numpy.savez(path + ".part.npz", **arrays)
        os.replace(path + ".part.npz", path)


def load() -> Trial:
    """The trial that openset started this script for."""
    path = os.environ.get("OPENSET_TRIAL", "")
    if not path:
        raise RuntimeError("OPENSET_TRIAL is not set: openset starts this script, as training.command of a method")
    return Trial(path)
