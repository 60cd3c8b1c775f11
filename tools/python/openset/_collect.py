"""openset.collect(): the outputs of a PyTorch network for a data loader's samples."""
from __future__ import annotations

from openset import _batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, Optional


def collect(model: Any, loader: Iterable[Any], head: Optional[str] = None, out: Any = None) -> Dict[str, Any]:
    """Runs `model` over `loader`, batches of (images, labels), and returns the arrays that evaluate() takes.

    head: the name of the last linear layer ("fc"); its input becomes `features`, its weights `head_weight` and
    `head_bias`. By default the model's last torch.nn.Linear. The model runs in evaluation mode on the device of its
    parameters, and is left in the mode it was in. It may return logits, or an object with `logits`, like those of
    Hugging Face. out: also write the arrays to this .npz, for the command line.
    """
    arrays = _batches.run(model, loader, _batches.find_head(model, head))
    if out is not None:
        import numpy
        numpy.savez(out, **arrays)
    return arrays
