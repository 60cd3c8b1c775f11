"""A Lightning callback that writes the network's outputs for test samples.

    trainer = Trainer(callbacks=[openset.lightning.WriteOutputs("outputs.npz", head="fc")])
    trainer.test(module, loader)                       # then: openset eval outputs.npz, or openset.evaluate()
"""
from __future__ import annotations

import importlib
from typing import Any, Optional

try:
    import torch
    try:
        _lightning: Any = importlib.import_module("lightning.pytorch")
    except ImportError:
        _lightning = importlib.import_module("pytorch_lightning")
except ImportError as error:
    raise ImportError(f"openset.lightning needs Lightning: pip install lightning ({error})") from None

from openset import _batches


class WriteOutputs(_lightning.Callback):
    """Writes logits, features, labels and the last layer's weights of each sample of trainer.test() to an .npz.

    The logits are the outputs of the layer `head` (by default the module's last torch.nn.Linear), the features its
    inputs. Batches are (images, labels) with -1 for unknown samples, or dicts of data and label. test_step() must run
    the layer once for each batch. For one process; `arrays` contains what was written.
    """

    def __init__(self, out: Any, head: Optional[str] = None) -> None:
        self.out = out
        self.head = head
        self.arrays: Any = None
        self._hook: Any = None

    def on_test_start(self, trainer: Any, pl_module: Any) -> None:
        if getattr(trainer, "world_size", 1) > 1:
            raise ValueError("openset.lightning: WriteOutputs is for one process; test with devices=1")
        self._name = _batches.find_head(pl_module, self.head)
        self._outputs = _batches.Outputs()

        def keep(_: Any, arguments: Any, output: Any) -> None:
            self._outputs.features.append(arguments[0].detach().cpu())
            self._outputs.logits.append(output.detach().float().cpu())

        self._hook = dict(pl_module.named_modules())[self._name].register_forward_hook(keep)

    def on_test_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int,
                          dataloader_idx: int = 0) -> None:
        self._outputs.labels.append(torch.as_tensor(_batches.image_and_label(batch)[1]).cpu())
        if len(self._outputs.logits) != len(self._outputs.labels):
            raise ValueError(f"head: layer '{self._name}' ran {len(self._outputs.logits)} times in "
                             f"{len(self._outputs.labels)} batches; name one that runs once")

    def on_test_end(self, trainer: Any, pl_module: Any) -> None:
        import numpy
        self.teardown(trainer, pl_module, "test")
        self.arrays = self._outputs.arrays(self._name, dict(pl_module.named_modules())[self._name])
        numpy.savez(self.out, **self.arrays)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
