"""openset.collect() and openset.images(): runs a user's network on data loaders or on a task's samples."""
from __future__ import annotations

import os

from openset import _batches, _library, _program
from openset._progress import Count, make_progress
from openset._result import names as _names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union


class Sample:
    """A sample of a task: `image`, an array u8 [H, W] or [H, W, C] or, in tasks of features, f32 [D]; `label`, -1 for
    unknown samples; `group`, the name of an unknown sample's group, else ""; `id`, its file's path, or its part and
    place; `as_stored`, whether the task takes the image without the crop of the network's preprocessing (ImageNet-C)."""

    def __init__(self, image: Any, label: int, group: str, id: str, as_stored: bool = False) -> None:
        self.image = image
        self.label = label
        self.group = group
        self.id = id
        self.as_stored = as_stored

    def __repr__(self) -> str:
        return f"<openset sample {self.id}, label {self.label}{', ' + self.group if self.group else ''}>"


class Samples:
    """The samples of one part of a task, in the task's order. Files are decoded when they are needed (with Pillow)."""

    def __init__(self, arrays: Dict[str, Any]) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays["label"])

    def __getitem__(self, i: int) -> Sample:
        arrays = self.arrays
        group = int(arrays["group"][i])
        name = str(arrays["group_names"][group]) if group >= 0 else ""
        return Sample(self._image(i), int(arrays["label"][i]), name, str(arrays["sample"][i]),
                      "as_stored" in arrays and bool(arrays["as_stored"][i]))

    def __iter__(self) -> Iterator[Sample]:
        return (self[i] for i in range(len(self)))

    def _image(self, i: int) -> Any:
        if "features" in self.arrays:
            return self.arrays["features"][i]
        if "images" in self.arrays:
            image = self.arrays["images"][i]
            return image[:, :, 0] if image.shape[2] == 1 else image
        import numpy
        try:
            from PIL import Image, ImageOps
        except ImportError as error:
            raise ImportError("the images of this task are files: pip install pillow") from error
        with Image.open(str(self.arrays["path"][i])) as image:
            return numpy.asarray(ImageOps.exif_transpose(image).convert("RGB"))


def images(task: str, split: int = 0, part: str = "test", data: Optional[str] = None, library: Optional[str] = None,
           limit: int = 0, validation_per_class: int = 0, fit_part: Optional[str] = None) -> Samples:
    """The samples of a task's split, in the order in which results are stored.

    part: "test" (the known test samples, then each group of unknown ones), "fit" (the training samples), or
    "validation" (the `validation_per_class` training samples of each class that are left out of "fit" for searches, and
    the task's external validation images). data, library: as the command's flags. limit: use only the first N samples
    of each class; 0: all. fit_part: instead of the task's own part to fit to (`openset score --fit_part`).
    """
    if part not in ("test", "fit", "validation"):
        raise ValueError(f"part: '{part}' is neither 'test' nor 'fit' nor 'validation'")
    if part == "validation" and validation_per_class == 0:
        raise ValueError("validation_per_class: say how many training samples of each class to leave out")
    parts, hints = _samples(task, split, limit, validation_per_class, _flags(data, library, fit_part))
    if part not in parts:
        raise ValueError(f"task {task} has no samples to fit to")
    if part == "validation":  # of which the hints are
        _library.warn(hints)
    return parts[part]


def _samples(task: str, split: int, limit: int, validation_per_class: int,
             flags: List[str]) -> Tuple[Dict[str, Samples], List[str]]:
    """The parts, and the program's hints."""
    import tempfile

    import numpy
    lines: List[str] = []
    with tempfile.TemporaryDirectory() as folder:
        _program.run(["task", "samples", task, f"--split={split}", f"--out={folder}", f"--train_limit={limit}",
                      f"--test_limit={limit}", f"--validation_per_class={validation_per_class}", *flags],
                     on_line=lines.append)
        parts = {}
        for part in ("test", "fit", "validation"):
            path = os.path.join(folder, part + ".npz")
            if os.path.exists(path):
                with numpy.load(path) as arrays:
                    parts[part] = Samples(dict(arrays))
    return parts, [line[len("hint: "):] for line in lines if line.startswith("hint: ")]


def _flags(data: Optional[str], library: Optional[str], fit_part: Optional[str]) -> List[str]:
    given = (("data", data), ("library", library), ("fit_part", fit_part))
    return [f"--{name}={value}" for name, value in given if value is not None]


class _Network:
    """Any callable, with what openset needs of it: batches as the network takes them, and how to read its outputs."""

    def __init__(self, model: Any, head: Optional[str], transform: Optional[Callable[[Any], Any]],
                 input: Dict[str, Any], features: Optional[str] = None) -> None:
        self.input = input
        self.features = features
        self.transform = transform
        self.transform_as_stored: Optional[Callable[[Any], Any]] = None  # of the network's own preprocessing
        if isinstance(model, str):
            model = self._load(model)
        self.is_onnx = hasattr(model, "get_inputs") and hasattr(model, "run")
        if not self.is_onnx and not callable(model):
            raise ValueError("model: is a dict of weights: make its network, call load_state_dict() and give the network"
                             if hasattr(model, "keys") else
                             f"model: can't be called (is {type(model).__name__}); give a network, a function of a batch, "
                             "or the path of a file")
        self.has_mode = type(model).__name__ != "ExportedProgram"  # an exported one is as it was exported
        if not self.has_mode:
            model = model.module()
        elif type(model).__name__ in ("DataParallel", "DistributedDataParallel"):
            model = model.module  # one device; the replicas' outputs have no fixed order
        self.model = model
        self.is_torch = not self.is_onnx and hasattr(model, "named_modules") and hasattr(model, "parameters")
        self.head = _batches.find_head_or_none(model, head) if self.is_torch else None
        if features is not None and not self.is_onnx:
            raise ValueError("features: names an output of an ONNX network; of a torch.nn.Module, name the layer "
                             "(head=)")
        outputs = [output.name for output in model.get_outputs()] if self.is_onnx else []
        if features is not None and features not in outputs:
            raise ValueError(f"features: the network has no output '{features}'; its outputs: {', '.join(outputs)}")

    def _load(self, name: str) -> Any:
        if name.startswith("timm/"):
            import timm
            model = timm.create_model(name[len("timm/"):], pretrained=True)
            if self.transform is None:
                self._use_timm(model)
            return model
        if name.endswith((".onnx", ".pt2", ".pt", ".ts")) and not os.path.exists(name):
            raise FileNotFoundError(f"model: there is no file '{name}'")
        if name.endswith(".onnx"):
            try:
                import onnxruntime
            except ImportError as error:
                raise ImportError("ONNX networks need onnxruntime: pip install onnxruntime") from error
            return onnxruntime.InferenceSession(name, providers=["CPUExecutionProvider"])
        if name.endswith(".pt2"):
            import torch
            return torch.export.load(name)
        if name.endswith((".pt", ".ts")):
            import torch
            return torch.jit.load(name, map_location="cpu")
        raise ValueError(f"model: '{name}' is neither 'timm/NAME' nor a file .onnx, .pt2 or .pt (TorchScript)")

    def _use_timm(self, model: Any) -> None:
        import timm.data

        def of(**changed: Any) -> Callable[[Any], Any]:
            config = {**timm.data.resolve_model_data_config(model), **changed}
            transform = timm.data.create_transform(**config, is_training=False)

            def apply(image: Any) -> Any:
                from PIL import Image
                return transform(Image.fromarray(image).convert("RGB"))

            return apply

        self.transform = of()
        self.transform_as_stored = of(crop_pct=1.0, crop_mode="squash")  # resizes to the input's size, and crops nothing

    def prepared(self, sample: Sample) -> Any:
        if self.transform is None:
            return _prepared(sample.image, **self.input)
        made = (self.transform_as_stored(sample.image) if sample.as_stored and self.transform_as_stored is not None
                else self.transform(sample.image))
        if not hasattr(made, "shape"):
            raise ValueError(f"transform: returned {'None' if made is None else 'a ' + type(made).__name__}; it must return "
                             "the network's input for an image, an array or a tensor")
        return made

    def batch(self, samples: Sequence[Sample]) -> Any:
        """The samples' images as one array or tensor."""
        import numpy
        made = [self.prepared(sample) for sample in samples]
        shapes = sorted({tuple(one.shape) for one in made})
        if len(shapes) > 1:
            raise ValueError(f"size: the images have different shapes, {list(shapes[0])} and {list(shapes[1])}: give "
                             "size=N, or a transform that makes them equal")
        if hasattr(made[0], "detach"):
            import torch
            batch = torch.stack(list(made))
            return batch if self.is_torch or not self.is_onnx else batch.numpy()
        batch = numpy.stack([numpy.asarray(one) for one in made])
        if self.is_torch or type(self.model).__module__.startswith("torch"):
            import torch
            return torch.from_numpy(batch)
        return batch

    def __call__(self, batch: Any) -> Tuple[Any, Any]:
        """Logits and, if they are known, features of a batch, as f32 arrays."""
        if self.is_onnx:
            return self._run_onnx(batch)
        if not self.is_torch:
            return _logits(self.model(batch)), None
        import torch
        seen: List[Any] = []
        device = next((parameter.device for parameter in self.model.parameters()), torch.device("cpu"))
        hook = None
        if self.head is not None:
            layer = dict(self.model.named_modules())[self.head]
            hook = layer.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
        was_training = self.has_mode and self.model.training
        try:
            if was_training:
                self.model.eval()
            with torch.inference_mode():
                logits = _logits(self._run_torch(batch.to(device)))
        finally:
            if hook is not None:
                hook.remove()
            if was_training:
                self.model.train()
        if not seen:
            return logits, None
        features = [_array(one.flatten(1)) for one in seen]
        import numpy
        joined = numpy.concatenate(features)  # several replicas of one layer see parts of the batch
        if len(joined) != len(logits):
            raise ValueError(f"head: layer '{self.head}' ran {len(seen)} times for a batch; name one that runs once")
        return logits, joined

    def _run_onnx(self, batch: Any) -> Tuple[Any, Any]:
        """The first output, and as features the output of that name or the only other one that is [samples, D]."""
        expected = self.model.get_inputs()[0]
        fixed = [size if isinstance(size, int) else given for size, given in zip(expected.shape, batch.shape)]
        if len(expected.shape) != batch.ndim or fixed != list(batch.shape):
            raise ValueError(f"model: its input '{expected.name}' has the shape {list(expected.shape)}, and a batch "
                             f"{list(batch.shape)}: {_FREE_BATCH}")
        found = [_array(one) for one in self.model.run(None, {expected.name: batch})]
        names = [output.name for output in self.model.get_outputs()]
        if self.features is not None:
            return found[0], found[names.index(self.features)].reshape(len(batch), -1)
        others = [one for one in found[1:]  # not the softmax of the logits, which has their shape
                  if one.ndim == 2 and len(one) == len(batch) and one.shape != found[0].shape]
        return found[0], others[0] if len(others) == 1 else None

    def _run_torch(self, batch: Any) -> Any:
        try:
            return self.model(batch)
        except (AssertionError, RuntimeError) as error:
            if self.has_mode:
                raise
            raise ValueError(f"model: the exported program takes no batch of shape {list(batch.shape)}: {_FREE_BATCH} "
                             f"({str(error).partition(os.linesep)[0]})") from error

    def head_arrays(self) -> Dict[str, Any]:
        return _batches.head_arrays(dict(self.model.named_modules())[self.head]) if self.head is not None else {}


_FREE_BATCH = ("give size= and channels= of its images, and export it with a free first dimension; one for a single "
               "image takes batch_size=1")


def _array(values: Any) -> Any:
    import numpy
    if hasattr(values, "detach"):
        values = values.detach().float().cpu().numpy()
    return numpy.asarray(values, numpy.float32)


def _logits(found: Any) -> Any:
    """The logits of what a network returned: a tensor, an object with `logits`, a dict, or (logits, ...)."""
    found = getattr(found, "logits", found)
    if isinstance(found, dict):
        found = found.get("logits", next(iter(found.values())))
    if isinstance(found, (list, tuple)):
        found = found[0]
    array = _array(found)
    if array.ndim != 2:
        raise ValueError(f"model: returned an array of shape {list(array.shape)}; logits are [samples, classes]")
    return array


def _prepared(image: Any, size: Optional[int] = None, channels: Optional[int] = None, mean: Sequence[float] = (),
              std: Sequence[float] = ()) -> Any:
    """openset's own preprocessing: resized with Pillow's bilinear filter, (value / 255 - mean) / std, f32 [C, H, W]."""
    import numpy
    if image.ndim == 1:
        return image  # features
    if size is not None and image.shape[:2] != (size, size):
        from PIL import Image
        image = numpy.asarray(Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR))
    values = numpy.asarray(image, numpy.float32) / numpy.float32(255)
    values = values[None] if values.ndim == 2 else values.transpose(2, 0, 1)
    if channels == 3 and len(values) == 1:
        values = numpy.repeat(values, 3, axis=0)
    for name, number, combine in (("mean", mean, numpy.subtract), ("std", std, numpy.divide)):
        if len(number) > 0:
            if len(number) not in (1, len(values)):
                raise ValueError(f"{name}: has {len(number)} values for {len(values)} channels")
            values = combine(values, numpy.asarray(number, numpy.float32).reshape(-1, 1, 1))
    return numpy.ascontiguousarray(values, numpy.float32)


def _check_outputs(count: int, outputs: Optional[Sequence[int]], classes: int) -> None:
    """Whether a network with `count` outputs has one for each known class; one more may be for unknown samples."""
    known = f"{classes} known {'class' if classes == 1 else 'classes'}"
    if outputs is None:
        advice = ("" if count < classes else ": choose them with outputs=[...], the index of each known class's output, "
                  "in the order that `openset task splits` lists")
        if not classes <= count <= classes + 1:
            raise ValueError(f"model: has {count} {'output' if count == 1 else 'outputs'}, and the task {known}{advice}")
        return
    if len(outputs) != len(set(outputs)) or len(outputs) != classes:
        raise ValueError(f"outputs: must have a different index for each of the {known} (is {list(outputs)})")
    wrong = [one for one in outputs if not 0 <= one < count]
    if wrong:
        raise ValueError(f"outputs: {wrong[0]} is no output of the network, which has 0 .. {count - 1}")


def _refuse_softmax(arrays: Dict[str, Any]) -> None:
    logits = arrays["logits"]
    if len(logits) > 0 and logits.min() >= 0 and abs(logits.sum(axis=1) - 1).max() < 1e-3:
        raise ValueError("model: ends in a softmax: its outputs are never negative and sum to 1; scores need logits: "
                         "leave the softmax out")


def _run(network: _Network, samples: Samples, batch_size: int, outputs: Optional[Sequence[int]],
         count: Count) -> Dict[str, Any]:
    import numpy
    logits, features = [], []
    names = samples.arrays["class_names"]
    for begin in range(0, len(samples), batch_size):
        some = [samples[i] for i in range(begin, min(begin + batch_size, len(samples)))]
        of_batch, of_features = network(network.batch(some))
        if len(of_batch) != len(some):
            raise ValueError(f"model: returned {len(of_batch)} rows of logits for {len(some)} images")
        _check_outputs(of_batch.shape[1], outputs, len(names))
        if numpy.isnan(of_batch).any():
            row = begin + int(numpy.isnan(of_batch).any(axis=1).argmax())
            raise ValueError(f"model: returned NaN for sample {row}, {samples[row].id}")
        logits.append(of_batch)
        if of_features is not None:
            features.append(of_features)
        count(begin + len(some))
    arrays = {"logits": numpy.concatenate(logits), "label": samples.arrays["label"], "group": samples.arrays["group"]}
    if len(samples.arrays["group_names"]) > 0:
        arrays["group_names"] = samples.arrays["group_names"]
    else:
        del arrays["group"]
    if "cluster" in samples.arrays:
        arrays["cluster"] = samples.arrays["cluster"]
    if features:
        arrays["features"] = numpy.concatenate(features)
        arrays.update(network.head_arrays())
    _refuse_softmax(arrays)
    if outputs is not None:
        arrays["logits"] = numpy.ascontiguousarray(arrays["logits"][:, list(outputs)])
        for name in ("head_weight", "head_bias"):
            if name in arrays:
                arrays[name] = arrays[name][list(outputs)]
    if arrays["logits"].shape[1] == len(names):
        arrays["class_names"] = names
    else:  # the last output is for unknown samples
        arrays["num_classes"] = numpy.array([len(names)])
    return arrays


def collect(model: Any, loader: Optional[Iterable[Any]] = None, head: Optional[str] = None, out: Any = None, *,
            task: Optional[str] = None, split: int = 0, store: Optional[str] = None,
            transform: Optional[Callable[[Any], Any]] = None, size: Optional[int] = None,
            channels: Optional[int] = None, mean: Union[float, Sequence[float]] = (),
            std: Union[float, Sequence[float]] = (), batch_size: int = 64, name: Optional[str] = None,
            methods: Union[str, Sequence[str]] = (), limit: int = 0, data: Optional[str] = None,
            library: Optional[str] = None, validation_per_class: int = 0, features: Optional[str] = None,
            fit_part: Optional[str] = None, outputs: Optional[Sequence[int]] = None,
            progress: bool = True) -> Dict[str, Any]:
    """Runs `model` over `loader`, or over the samples of `task`, and returns the arrays that evaluate() takes. The
    loader has batches of (images, labels), or dicts as Hugging Face's, {"pixel_values": ..., "labels": ...}.

    head: the name of the last linear layer ("fc"); its input becomes `features`, its weights `head_weight` and
    `head_bias`. By default the model's last torch.nn.Linear; a model without one has logits only. A torch.nn.Module
    runs in evaluation mode on the device of its parameters, and is left in the mode it was in. A model may return
    logits, or an object with `logits`, like Hugging Face's models. out: also write the arrays to this .npz, for the
    command line.

    With `task`, model may be any callable that takes a batch, a file .onnx, .pt2 or .pt (TorchScript), or "timm/NAME",
    which brings its own preprocessing. features: the name of the output of an ONNX network that has the features; by
    default the only other output of shape [samples, D]. Without features, a warning says which scores are left out.
    transform: from an image (u8 [H, W, C]) to the model's input; without it, the
    image is resized to `size` and becomes (value / 255 - mean) / std, as `openset score` does. The result has the
    outputs for the training samples under "fit" and, with `validation_per_class`, those for the samples of searches
    under "validation" (model { outputs { validation_file } }). fit_part: instead of the task's own part to fit to
    (`openset score --fit_part`). outputs: the index of each known class's output, in the task's order, for a network
    that has other outputs too, or another order; without it, output c is the task's known class c, and one output more
    may be for unknown samples, and the result then has num_classes. store: also commit the outputs to this store, and measure `methods`
    (by default every score that needs no training): `openset report score_NAME --store=STORE` shows them, and
    `progress` shows how far the network is and what is measured. name: for the store; by default the model's class or file.
    """
    either = "loader: give either a loader or a task"
    model = os.fspath(model) if isinstance(model, os.PathLike) else model
    if task is None:
        if loader is None:
            raise ValueError(either)
        if store is not None:
            raise ValueError("store: needs task, which says what the samples are")
        if outputs is not None:
            raise ValueError("outputs: needs task, which says what the known classes are")
        if not (hasattr(model, "named_modules") and hasattr(model, "parameters")):
            raise ValueError(f"model: with a loader, it must be a torch.nn.Module (is {type(model).__name__}); with task=, "
                             "it may also be a function, an ONNX session or the path of a file")
        with Count("running the network", 0, progress) as count:
            arrays = _batches.run(model, loader, _batches.find_head_or_none(model, head), count=count)
        _refuse_softmax(arrays)
        _library.warn(_feature_hints(arrays))
        if out is not None:
            import numpy
            numpy.savez(out, **arrays)
        return arrays
    if loader is not None:
        raise ValueError(either)
    mean, std = ([values] if isinstance(values, (int, float)) else values for values in (mean, std))
    methods = _names(methods)
    _check_input(size, channels, mean, std)
    name = _checked_name(name, model)
    network = _Network(model, head, transform, dict(size=size, channels=channels, mean=mean, std=std), features)
    flags = _flags(data, library, fit_part)
    parts, hints = _samples(task, split, limit, validation_per_class, flags)
    found = {}
    for part, samples in parts.items():
        with Count(f"running the network, {part}", len(samples), progress) as count:
            found[part] = _run(network, samples, batch_size, outputs, count)
    result = dict(found["test"])
    is_image = "features" not in parts["test"].arrays
    classes = len(parts["test"].arrays["class_names"])
    _library.warn(hints + _input_hints(is_image and network.transform is None, mean, std) + _feature_hints(result) +
                  _stored_hints(parts["test"], transform) + _class_hints(result, classes, outputs))
    if out is not None:
        import numpy
        numpy.savez(out, **result)
    if "fit" in found:
        result["fit"] = {key: values for key, values in found["fit"].items() if key not in ("group", "group_names", "cluster")}
    if "validation" in found:
        result["validation"] = found["validation"]
    if store is not None:
        _commit(result, name, task, split, store, methods, limit, flags, progress)
    return result


def _check_input(size: Optional[int], channels: Optional[int], mean: Sequence[float], std: Sequence[float]) -> None:
    import math
    for name, number in (("size", size), ("channels", channels)):
        if number is not None and number < 1:
            raise ValueError(f"{name}: must be at least 1 (is {number})")
    for name, numbers in (("mean", mean), ("std", std)):
        if not all(math.isfinite(number) for number in numbers):
            raise ValueError(f"{name}: must be finite (is {list(numbers)})")
    if any(number <= 0 for number in std):
        raise ValueError(f"std: images are divided by it; it must be above 0 (is {list(std)})")


def _input_hints(is_ours: bool, mean: Sequence[float], std: Sequence[float]) -> List[str]:
    """What may be wrong with our preprocessing, as `openset score` says it."""
    missing = [name for name, numbers in (("mean", mean), ("std", std)) if len(numbers) == 0]
    if is_ours and missing:
        return [f"without {', '.join(missing)}, the default is used, pixels in 0 to 1: is the network's training like "
                "that?"]
    if is_ours and max([*mean, *std]) > 1:
        return [f"mean {list(mean)} and std {list(std)} are of pixels in 0 to 1: divide those of 0 to 255 by 255"]
    return []


def _feature_hints(arrays: Dict[str, Any]) -> List[str]:
    if "features" not in arrays:
        return ["the outputs have no features: scores that read features (knn, mahalanobis, vim, react ...) are left "
                "out. The input of a torch.nn.Module's last torch.nn.Linear (head=) and a second output of an ONNX network "
                "(features=) become features; exported programs and functions give logits only"]
    if "head_weight" not in arrays:
        return ["the outputs have no head_weight: scores that read the last layer (vim, react, ash, dice ...) are left "
                "out. Only the torch.nn.Module itself gives it"]
    return []


def _class_hints(arrays: Dict[str, Any], classes: int, outputs: Optional[Sequence[int]]) -> List[str]:
    """What evaluate() says of the outputs: classes in another order, an accuracy of guessing, an AUROC below 50 %."""
    import numpy
    logits, label = arrays["logits"], arrays["label"]
    _, _, hints = _library.call("evaluate", dict(metrics="accuracy"), [
        ("model", dict(logits=logits, label=label, num_classes=numpy.array([classes])))], is_quiet=True)
    if logits.shape[1] > classes:
        hints = [f"the network has {classes + 1} outputs, and the task {classes} known classes: the last output counts as "
                 f"one for unknown samples; if it is not, choose the others with outputs=[...]", *hints]
    best = logits[:, :classes].argmax(axis=1)
    order = [int(numpy.bincount(best[label == c], minlength=classes).argmax()) for c in range(classes)]
    if sorted(order) != list(range(classes)):
        return hints
    order = [outputs[place] for place in order] if outputs is not None else order
    return [f"{hint}; or outputs={order}, which takes them in the task's order" if "in another order" in hint else hint
            for hint in hints]


def _stored_hints(samples: Samples, transform: Any) -> List[str]:
    stored = samples.arrays.get("as_stored")
    if transform is None or stored is None or not stored.any():
        return []
    first = str(samples.arrays["sample"][int(stored.argmax())])
    return [f"the task takes {int(stored.sum())} images as they are stored ({first} ...), which `transform` gets like the "
            "others: it should not crop images that have the network's size"]


def _checked_name(name: Optional[str], model: Any) -> str:
    """The name for the store, by default the model's class or file. It becomes part of paths."""
    import re
    if name is None:
        of_file = os.path.splitext(os.path.basename(model))[0] if isinstance(model, str) else type(model).__name__.lower()
        return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9_.+-]", "_", of_file).lstrip("_") or "model"
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,79}", name) is None:
        raise ValueError(f"name: {name!r} is not a valid name: use at most 80 letters, digits, _, ., + and -, a letter or "
                         "digit first")
    return name


def _has_other_logits(path: str, logits: Any) -> bool:
    import numpy
    if not os.path.exists(path):
        return False
    with numpy.load(path) as earlier:
        return not numpy.array_equal(earlier["logits"], logits)


def _commit(arrays: Dict[str, Any], name: str, task: str, split: int, store: str, methods: Sequence[str], limit: int,
            flags: List[str], progress: bool) -> None:
    """Stores outputs and measures them, by `openset score`."""
    import numpy
    folder = os.path.join(store, "outputs_of", name)
    os.makedirs(folder, exist_ok=True)
    test, fit = os.path.join(folder, f"{name}_{split}.npz"), os.path.join(folder, f"fit_{split}.npz")
    if _has_other_logits(test, arrays["logits"]):
        _library.warn([f"'{name}' in {store} had outputs of another network for these samples (or of this one before it was "
                       "trained further): its records stay, and the table of that name shows the new ones; name= "
                       "keeps both"])
    numpy.savez(test, **{key: values for key, values in arrays.items() if key not in ("fit", "validation")})
    words = ["score", f"--model={os.path.join(folder, name)}_{{split}}.npz", f"--task={task}", f"--store={store}",
             f"--train_limit={limit}", f"--test_limit={limit}", *flags]
    if "fit" in arrays:
        numpy.savez(fit, **arrays["fit"])
        words.append(f"--fit={folder}/fit_{{split}}.npz")
    if methods:
        words.append("--methods=" + ",".join(methods))
    lines: List[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        shown.line(line)

    try:
        with make_progress(progress) as shown:
            _program.run(words, on_line=on_line)
    except RuntimeError:
        failed = [line.partition("] FAILED to evaluate ")[2] for line in lines if "] FAILED to evaluate " in line]
        if not failed or not any(line.startswith("records: ") for line in lines):
            raise
        import warnings

        from openset._library import HintWarning
        warnings.warn("not measured: " + "; ".join(failed), HintWarning, stacklevel=3)
    if progress:
        import re
        import sys
        study = "score_" + re.sub("[^A-Za-z0-9.-]", "_", name).lower()
        print(f"`openset report {study} --store={store}` shows the table", file=sys.stderr)
