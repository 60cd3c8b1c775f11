"""Running networks over batches of data loaders. Imports torch when it is called."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple


def image_and_label(batch: Any) -> Tuple[Any, Any]:
    """Images and labels of a batch: (images, labels), a dict of OpenOOD's loaders, {"data": ..., "label": ...}, or one
    of Hugging Face's, {"pixel_values": ..., "labels": ...}, whose other entries are the model's arguments."""
    if hasattr(batch, "keys"):
        if "data" in batch and "label" in batch:
            return batch["data"], batch["label"]
        arguments = {name: batch[name] for name in batch.keys() if name != "labels"}
        if "labels" not in batch or not arguments:
            raise ValueError(f"loader: a batch has {', '.join(map(str, batch.keys()))}; it needs 'data' and 'label', or "
                             "'labels' and the model's arguments ('pixel_values'), or be a pair")
        return arguments, batch["labels"]
    if not isinstance(batch, (list, tuple)) or len(batch) < 2:
        raise ValueError("loader: a batch must be (images, labels); the label of an unknown sample, or of one without a "
                         "label, is -1")
    return batch[0], batch[1]


def call(model: Any, images: Any, device: Any) -> Any:
    """The logits of a batch: an array of images, or a dict of arguments."""
    if isinstance(images, dict):
        _check_arguments(model, list(images))
        found = model(**{name: values.to(device) if hasattr(values, "to") else values
                         for name, values in images.items()})
    else:
        if not hasattr(images, "to"):
            import torch
            images = torch.as_tensor(images)
        found = model(images.to(device))
    return getattr(found, "logits", found)


def _check_arguments(model: Any, names: List[str]) -> None:
    """Whether the model's forward() takes the entries of a batch."""
    import inspect
    try:
        parameters = inspect.signature(model.forward).parameters
    except (AttributeError, TypeError, ValueError):
        return
    kinds = {parameter.kind for parameter in parameters.values()}
    unknown = [name for name in names if name not in parameters]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise ValueError(f"loader: a batch has '{unknown[0]}', which the model doesn't take; forward() takes "
                         f"{', '.join(parameters) or 'nothing'}: name the entry so, or give pairs of images and labels")


def find_head(model: Any, head: Optional[str]) -> str:
    """`head` if the model has that layer, by default its last torch.nn.Linear."""
    import torch
    if head is not None and isinstance(model, torch.jit.ScriptModule):
        raise ValueError("head: the layers of a TorchScript network can't be read: give the torch.nn.Module itself, or "
                         "leave head out for its logits alone")
    layers = [name for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)]
    if head is None and not layers:
        raise ValueError("head: the model has no torch.nn.Linear; name the layer whose input are the features")
    head = head or layers[-1]
    if head not in dict(model.named_modules()):
        raise ValueError(f"head: the model has no layer '{head}'; linear layers: {', '.join(layers) or 'none'}")
    return head


def find_head_or_none(model: Any, head: Optional[str]) -> Optional[str]:
    """The same; None for a model without torch.nn.Linear, if `head` is not given."""
    import torch
    if head is None and not any(isinstance(layer, torch.nn.Linear) for layer in model.modules()):
        return None
    return find_head(model, head)


def head_arrays(layer: Any) -> Dict[str, Any]:
    """The weights of a linear layer as head_weight and head_bias; nothing for another layer."""
    if getattr(layer, "weight", None) is None or layer.weight.dim() != 2:
        return {}
    arrays = {"head_weight": layer.weight.detach().float().cpu().numpy()}
    if getattr(layer, "bias", None) is not None:
        arrays["head_bias"] = layer.bias.detach().float().cpu().numpy()
    return arrays


class Outputs:
    """Logits, features and labels of batches, in their order."""

    def __init__(self) -> None:
        self.logits: List[Any] = []
        self.features: List[Any] = []
        self.labels: List[Any] = []

    def arrays(self, head: Optional[str], layer: Any) -> Dict[str, Any]:
        import numpy
        import torch
        if not self.logits:
            raise ValueError("loader: has no batch")
        found = {"logits": torch.cat(self.logits).numpy()}
        if head is not None:
            found["features"] = torch.cat([values.float().flatten(1) for values in self.features]).numpy()
            found.update(head_arrays(layer))
        if head is not None and len(found["features"]) != len(found["logits"]):
            raise ValueError(f"head: layer '{head}' ran {len(self.features)} times in {len(self.logits)} batches; name "
                             "one that runs once")
        if self.labels:
            for labels in self.labels:
                if labels.dim() != 1:
                    raise ValueError(f"loader: the labels of a batch have the shape {list(labels.shape)}; give the index of "
                                     "each sample's class, [N], -1 for unknown samples (not one-hot)")
            label = torch.cat(self.labels).numpy()
            found["label"] = label.astype(numpy.int64)
            if (found["label"] != label).any():
                raise ValueError("loader: the labels are no whole numbers; give the index of each sample's class, -1 for "
                                 "unknown samples")
        return found


def run(model: Any, batches: Iterable[Any], head: Optional[str], labelled: bool = True,
        count: Optional[Callable[[int], None]] = None) -> Dict[str, Any]:
    """The arrays of the network's outputs for batches of (images, labels) or, if unlabelled, of images. count: called
    after each batch, with the number of images so far."""
    import torch
    layer = dict(model.named_modules())[head] if head is not None else None
    outputs = Outputs()
    hook = layer.register_forward_pre_hook(
        lambda _, arguments: outputs.features.append(arguments[0].detach().cpu())) if layer is not None else None
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    was_training = model.training
    done = 0
    try:
        model.eval()
        with torch.inference_mode():
            for batch in batches:
                images, labels = image_and_label(batch) if labelled else (batch, None)
                logits = call(model, images, device).float().cpu()
                if logits.isnan().any():
                    row = int(logits.flatten(1).isnan().any(dim=1).int().argmax())
                    raise ValueError(f"model: returned NaN for sample {done + row}")
                outputs.logits.append(logits)
                if labels is not None:
                    outputs.labels.append(torch.as_tensor(labels))
                    if outputs.labels[-1].dim() == 1 and len(outputs.labels[-1]) != len(logits):
                        raise ValueError(f"loader: batch {len(outputs.logits) - 1} has {len(outputs.labels[-1])} labels "
                                         f"for {len(logits)} images")
                done += len(logits)
                if count is not None:
                    count(done)
    finally:
        if hook is not None:
            hook.remove()
        model.train(was_training)
    return outputs.arrays(head, layer)
