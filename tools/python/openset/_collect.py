"""openset.collect(): what a PyTorch network says of a data loader's samples."""


def collect(model, loader, head=None, out=None):
    """Runs `model` over `loader`, batches of (images, labels), and returns the arrays that evaluate() takes.

    head: the name of the last linear layer ("fc"); its input becomes `features`, its weights `head_weight` and
    `head_bias`. By default the model's last torch.nn.Linear. The model runs in evaluation mode on the device of its
    parameters, and is left in the mode it was in. out: also write the arrays to this .npz, for the command line.
    """
    import numpy
    import torch
    layers = [name for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)]
    if head is None and not layers:
        raise ValueError("head: the model has no torch.nn.Linear; name the layer whose input are the features")
    head = head or layers[-1]
    modules = dict(model.named_modules())
    if head not in modules:
        raise ValueError(f"head: the model has no layer '{head}'; linear layers: {', '.join(layers) or 'none'}")

    inputs = []
    hook = modules[head].register_forward_pre_hook(lambda _, arguments: inputs.append(arguments[0].detach().cpu()))
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    logits, labels, was_training = [], [], model.training
    try:
        model.eval()
        with torch.inference_mode():
            for images, label in loader:
                logits.append(model(images.to(device)).float().cpu())
                labels.append(torch.as_tensor(label))
    finally:
        hook.remove()
        model.train(was_training)
    if not logits:
        raise ValueError("loader: has no batch")
    arrays = {
        "logits": torch.cat(logits).numpy(),
        "label": torch.cat(labels).numpy().astype(numpy.int64),
        "features": torch.cat([values.float().flatten(1) for values in inputs]).numpy(),
    }
    layer = modules[head]
    if getattr(layer, "weight", None) is not None and layer.weight.dim() == 2:
        arrays["head_weight"] = layer.weight.detach().float().cpu().numpy()
        if layer.bias is not None:
            arrays["head_bias"] = layer.bias.detach().float().cpu().numpy()
    if len(arrays["features"]) != len(arrays["logits"]):
        raise ValueError(f"head: layer '{head}' ran {len(inputs)} times in {len(logits)} batches; name one that runs once")
    if out is not None:
        numpy.savez(out, **arrays)
    return arrays
