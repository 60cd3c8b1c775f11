"""openset.Study: a study from its spec, or made in Python."""
from __future__ import annotations

import os

from openset import _program
from openset._progress import make_progress
from openset._result import Result, flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

    Names = Union[str, Sequence[str]]


class Study:
    """A study from its spec: a file, or the name of a study that comes with openset ("quickstart").

    Arguments change it: store="results", methods=["softmax"], seeds=[0, 1] or "0..4", set={"training.epochs": 1}.
    Without a spec, `task` and `methods` make one, with `axes` {"training.epochs": [5, 10]} whose product is measured, or
    of a field that only some methods have, {"loss.open_auc.lambda": {"openauc": [0.1, 1]}}; `splits` (default: all), `seeds` (default: 0), `metrics` and `settings`, fields that all methods share, as
    the text of a MethodSpec. `text` is that spec, and save() writes it to a file for the command line.

    >>> import openset
    >>> study = openset.Study(name="mine", task="fashion_mnist_6_4", methods=["softmax", "openauc"], splits=[0],
    ...                       axes={"training.epochs": [1, 2]}, settings="model { osrci_cnn {} head { linear {} } }")
    >>> print(study.text)
    name: "mine"
    task: "fashion_mnist_6_4"
    method: "softmax"
    method: "openauc"
    override { model { osrci_cnn {} head { linear {} } } }
    axis { path: "training.epochs" value: "1" value: "2" }
    split: 0
    seed: 0
    metric { accuracy {} }
    metric { auroc {} }
    metric { openauc {} }
    <BLANKLINE>
    """

    def __init__(self, spec: Union[str, "os.PathLike[str]", None] = None, *, name: str = "study",
                 task: Optional[Names] = None, methods: Optional[Names] = None,
                 axes: Optional[Mapping[str, Union[Sequence[Any], Mapping[str, Sequence[Any]]]]] = None, splits: Sequence[int] = (),
                 seeds: Union[str, int, Sequence[int], None] = None, metrics: Sequence[str] = (),
                 settings: Optional[str] = None, store: Optional[str] = None, data: Optional[str] = None,
                 set: Optional[Mapping[str, Any]] = None, jobs: Optional[int] = None) -> None:
        self.text: Optional[str] = None
        self._renamed: Dict[str, str] = {}  # folders that errors don't name
        changes: Dict[str, Any] = {}
        if spec is None:
            if task is None or methods is None:
                raise ValueError("Study: name a spec, or give task= and methods=")
            self.text = _spec_text(name, task, methods, axes or {}, splits, seeds, metrics, settings)
            import shutil
            import tempfile
            import weakref
            folder = tempfile.mkdtemp(prefix="openset-study-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self.spec = self.save(os.path.join(folder, f"{name}.textproto"))
            self._renamed = {folder + os.sep: ""}
        else:
            given = dict(task=task, axes=axes, splits=splits or None, metrics=metrics or None, settings=settings)
            wrong = [argument for argument, value in given.items() if value is not None]
            if wrong:
                raise ValueError(f"Study: {wrong[0]}= makes a study without a spec; {os.fspath(spec)} says it itself "
                                 "(set= changes its fields)")
            self.spec = os.fspath(spec)
            seed_text = ",".join(map(str, _list(seeds))) if seeds is not None else None
            changes = dict(methods=methods, seeds=seed_text)
        self.store = store
        self._flags = flags(store=store, data=data, jobs=jobs, **changes)
        self._flags += [f"--set={path}={value}" for path, value in (set or {}).items()]

    def save(self, path: "Union[str, os.PathLike[str]]") -> str:
        """Writes the spec of a study that was made in Python to `path`, NAME.textproto, and returns the path."""
        if self.text is None:
            raise ValueError(f"Study: '{self.spec}' was not made here; copy its file")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        return os.fspath(path)

    def _run(self, command: str, *more: str, **options: Any) -> str:
        given = [flag for flag in self._flags if command != "report" or not flag.startswith("--jobs")]
        return _program.run([command, *given, *more, "--", self.spec], renamed=self._renamed, **options)

    def plan(self) -> "Plan":
        """The plan, as `openset plan --format=json` prints it: a dict, which prints as a summary."""
        import json
        return Plan(json.loads(self._run("plan", "--format=json")))

    def run(self, progress: bool = True) -> "Study":
        """Makes the missing results. With `progress`, a notebook shows a bar, and a terminal the program's lines."""
        with make_progress(progress) as shown:
            self._run("run", on_line=shown.line)
        return self

    def report(self, format: str = "text") -> str:
        """The tables as text, "markdown", "latex", "csv", "json", or the page ("html")."""
        return self._run("report", f"--format={format}")

    def table(self) -> Any:
        """A pandas.DataFrame with a row for each trial, group and metric."""
        import io
        import pandas
        return pandas.read_csv(io.StringIO(self._run("report", "--format=csv", "--tidy")))

    def _repr_html_(self) -> str:
        page = self.report("html").replace("&", "&amp;").replace('"', "&quot;")
        return f"<iframe srcdoc=\"{page}\" width='100%' height='600'></iframe>"


class Plan(dict):  # type: ignore[type-arg]
    """What a run would do, as dicts and lists. Printed, it is a summary.

    >>> from openset._study import Plan
    >>> action = dict(kind="train", done=False, needed=True, image_passes=300)
    >>> print(Plan(trials=[{"id": "a"}, {"id": "b"}], actions=[action, {**action, "done": True, "needed": False}]))
    2 trials
    action  all  in the store  to run  image passes
    train   2    1             1       300
    """

    def __repr__(self) -> str:
        counts: Dict[str, List[int]] = {}
        for action in self["actions"]:
            count = counts.setdefault(action["kind"], [0, 0, 0, 0])
            needed = int(action["needed"])
            for at, more in enumerate((1, int(action["done"]), needed, needed * int(action["image_passes"]))):
                count[at] += more
        names = ("all", "in the store", "to run", "image passes")
        table = Result(None, [{"action": kind, **dict(zip(names, count))} for kind, count in counts.items()])
        missing = [f"missing: {data}" for data in self.get("missing_data", [])]
        return "\n".join([f"{len(self['trials'])} trials", *([repr(table)] if counts else []), *missing])


def _list(values: Any) -> List[Any]:
    return [values] if isinstance(values, (str, int)) else list(values)


def _quoted(text: Any) -> str:
    import json
    return json.dumps(str(text), ensure_ascii=False)


def _spec_text(name: str, task: Names, methods: Names, axes: Mapping[str, Any], splits: Sequence[int],
               seeds: Union[str, int, Sequence[int], None], metrics: Sequence[str], settings: Optional[str]) -> str:
    import re
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ValueError(f"Study: name: {name!r} is not a valid file name; use letters, digits, '_', '-' and '.'")
    seed_list = _list(seeds if seeds is not None else 0)
    if not all(isinstance(seed, int) for seed in seed_list):
        raise ValueError(f"Study: seeds: {seeds!r} must be a whole number or a list of these")
    lines = [f"name: {_quoted(name)}", *(f"task: {_quoted(one)}" for one in _list(task)),
             *(f"method: {_quoted(one)}" for one in _list(methods))]
    if settings is not None:
        lines.append(f"override {{ {settings} }}")
    for path, values in axes.items():
        of_methods = dict(values) if hasattr(values, "items") else {"": values}
        for method, some in of_methods.items():
            words = " ".join(f"value: {_quoted(str(value).lower() if isinstance(value, bool) else value)}"
                             for value in _list(some))
            only = f" method: {_quoted(method)}" if method else ""
            lines.append(f"axis {{ path: {_quoted(path)} {words}{only} }}")
    lines += [f"split: {split}" for split in splits]
    lines += [f"seed: {seed}" for seed in seed_list]
    for metric in metrics or ("accuracy", "auroc", "openauc"):
        lines.append(f"metric {{ {metric if '{' in metric else metric + ' {}'} }}")
    return "\n".join([*lines, ""])
