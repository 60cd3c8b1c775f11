"""openset.open_store(): the records of a store."""
from __future__ import annotations

import os

from openset import _program
from openset._arrays import NAMES
from openset._evaluate import evaluate, score_name
from openset._own_score import OwnScore
from openset._result import Result, metric_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Union

    from openset._result import Row


class Record:
    """The record of one trial. `json` is the complete record (a TrialRecord, experiments/store/record.proto) as dicts
    and lists."""

    def __init__(self, store: "Store", found: Dict[str, Any]) -> None:
        self.store = store
        self.json = found

    @property
    def trial(self) -> str:
        return str(self.json["trial_id"])

    @property
    def spec(self) -> Dict[str, Any]:
        """The trial with every default."""
        return dict(self.json["trial"])

    @property
    def metrics(self) -> Dict[str, Optional[float]]:
        """The metrics on all unknown samples; None if a metric is undefined."""
        return {metric["name"]: metric.get("value") for metric in self.json["metric"]
                if metric.get("group", {}).get("kind", "POOL") == "POOL"}

    def message(self) -> Any:
        """The record as a Protobuf message, openset.protos.TrialRecord. Needs protobuf."""
        from openset import protos
        from google.protobuf import json_format
        return json_format.ParseDict(self.json, protos.TrialRecord(), descriptor_pool=protos.POOL)

    def epochs(self) -> Any:
        """A pandas.DataFrame of the training: a row for each epoch."""
        import pandas
        return pandas.DataFrame(self.json.get("epoch", []))

    def curves(self) -> Any:
        """A pandas.DataFrame of the thinned curves, with the columns curve (ROC, OSCR ...), set, x and y."""
        import pandas
        rows = [{"curve": curve["kind"], "set": curve.get("set", ""), "x": x, "y": y}
                for curve in self.json.get("details", {}).get("curve", []) for x, y in zip(curve["x"], curve["y"])]
        return pandas.DataFrame(rows, columns=["curve", "set", "x", "y"])

    def outputs(self) -> Dict[str, Any]:
        """The arrays that the trial was measured on, by name, after their checksum was checked."""
        return self.store.outputs(self.trial)[0]

    def __repr__(self) -> str:
        return f"<openset record {self.trial[:12]} of {self.store.folder}>"


class Records(Result):
    """Records, a row for each: the fields of `openset records ls --format=json`. Tables of records can be added;
    records[0] is a row, records[:3] the first three."""

    def __init__(self, rows: List[Row], metrics: Callable[[], List[str]]) -> None:
        super().__init__(rows, rows)
        self._metrics = metrics

    def __add__(self, other: "Records") -> "Records":
        return Records([*self.rows, *other.rows],
                       lambda: list(dict.fromkeys([*self.metric_names(), *other.metric_names()])))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return Records(self.rows[place], self._metrics) if isinstance(place, slice) else self.rows[place]

    def metric_names(self) -> List[str]:
        """The fields that are metrics: "auroc", "svhn.auroc"."""
        known = set(self._metrics())
        return [name for name in dict.fromkeys(name for row in self.rows for name in row)
                if any(name == metric or name.endswith("." + metric) for metric in known)]

    def to_frame(self) -> Any:
        """A pandas.DataFrame, a row for each record. Its `attrs` say which columns are metrics, for compare()."""
        frame = super().to_frame()
        frame.attrs["openset_metrics"] = self.metric_names()
        return frame

    def to_parquet(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the table. Needs pandas and pyarrow."""
        try:
            self.to_frame().to_parquet(path)
        except ImportError as error:
            raise ImportError(f"to_parquet needs pandas and pyarrow: pip install pandas pyarrow ({error})") from None

    def _split(self, row: Row) -> List[Dict[str, Any]]:
        names = self.metric_names()
        metrics = {name: float(row[name]) for name in names if isinstance(row.get(name), (int, float))}
        return [{name: value for name, value in row.items() if name not in names}, metrics]

    def to_mlflow(self, experiment: Optional[str] = None) -> None:
        """Logs a run for each record: parameters and metrics. Needs mlflow, whose settings determine the
        destination."""
        try:
            import mlflow
        except ImportError:
            raise ImportError("to_mlflow needs mlflow: pip install mlflow") from None
        if experiment is not None:
            mlflow.set_experiment(experiment)
        for row in self.rows:
            parameters, metrics = self._split(row)
            with mlflow.start_run(run_name=_run_name(row)):
                mlflow.log_params(parameters)
                # Its names are letters, digits, "_", "-", ".", " " and "/".
                mlflow.log_metrics({name.replace("@", "_at_"): value for name, value in metrics.items()})

    def to_wandb(self, project: str, **settings: Any) -> None:
        """Logs a run for each record: config and summary. Needs wandb; `settings` go to wandb.init()."""
        try:
            import wandb
        except ImportError:
            raise ImportError("to_wandb needs wandb: pip install wandb") from None
        for row in self.rows:
            parameters, metrics = self._split(row)
            run = wandb.init(project=project, name=_run_name(row), config=parameters, **settings)
            run.summary.update(metrics)
            run.finish()


def _run_name(row: Row) -> str:
    return " ".join(str(row[name]) for name in ("method", "task", "split", "seed") if name in row)


class Store:
    """The records of a store, by its folder."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        self.folder = os.fspath(folder)

    def _read(self, command: str, action: str, *arguments: str) -> str:
        return _program.run([command, action, f"--store={self.folder}", "--", *arguments])

    def _read_json(self, action: str, *arguments: str) -> Any:
        return _program.run_json(["records", action, f"--store={self.folder}", "--format=json", "--", *arguments])

    def records(self, query: str = "") -> Records:
        """A row for each record that matches `query` ("method=openauc and auroc>0.9"); .to_frame() for pandas."""
        rows = self._read_json("ls", *([query] if query else []))
        return Records(rows, lambda: self._metric_names(rows))

    def _metric_names(self, rows: List[Row]) -> List[str]:
        """The names of the metrics, from one record of each study."""
        trials = {row.get("experiment"): row["trial"] for row in rows}
        return list(dict.fromkeys(name for trial in trials.values() for name in self.record(trial).metrics))

    def _distances(self, trial: str) -> Dict[str, List[str]]:
        """The near and the far groups of a trial: {"near": [...], "far": [...]}."""
        groups = self.record(trial).spec["data"]["test_unknown"]
        return {name.lower(): [group["name"] for group in groups if group.get("distance") == name]
                for name in ("NEAR", "FAR")}

    def record(self, trial: str) -> Record:
        """One complete record, by the first digits of its id."""
        return Record(self, self._read_json("show", trial))

    def outputs(self, trial: str) -> List[Dict[str, Any]]:
        """The arrays that a trial was measured on, and, if its score was fitted, those that it was fitted to."""
        import tempfile

        import numpy
        with tempfile.TemporaryDirectory(prefix="openset-") as folder:
            target = os.path.join(folder, "outputs")
            self._read("export", "outputs", trial, target)
            found = []
            for name in ("outputs.npz", "fit_outputs.npz"):
                path = os.path.join(target, name)
                if os.path.exists(path):
                    with numpy.load(path) as arrays:
                        found.append({key: arrays[key] for key in arrays.files})
            return found

    def evaluate(self, score: Any, query: str = "", *, metrics: Union[str, Sequence[str], None] = None) -> Records:
        """Measures `score` on the stored outputs of the records that match `query`, without running a network.

        The rows are those records with the score as their method, the metrics of the record (or `metrics`), also for
        each group of unknown samples, and, for your own score, its `score_sha256`. Add them to records() for one table.
        Fitted scores need the outputs of training samples: query records of a method whose score is fitted.
        """
        asked = self.records(query)
        names = metric_names(metrics) or ", ".join(self._metric_names(asked.rows))
        rows: List[Row] = []
        measured: Dict[str, None] = {}
        measured_before = set(asked.metric_names())
        distances: Dict[Any, Dict[str, List[str]]] = {}
        for row in asked.rows:
            task = (row.get("experiment"), row["task"])
            if task not in distances:
                distances[task] = self._distances(row["trial"])
            arrays, *fit = ({name: values for name, values in found.items() if name in NAMES}
                            for found in self.outputs(row["trial"]))
            one = evaluate(**{**arrays, "prediction": None}, score=score, fit=fit[0] if fit else None, metrics=names,
                           near=distances[task]["near"], far=distances[task]["far"])
            told: Row = {"method": score_name(score), "trained_as": row["method"]}
            if isinstance(score, OwnScore):
                told["score_sha256"] = score.sha256
            kept = {name: value for name, value in row.items() if name not in measured_before and name != "method"}
            # A record has a metric by group only if unknown samples decide it.
            groups = {f"{group.replace(' ', '_')}.{name}": value.get("value")
                      for group, found in one.json.get("groups", {}).items() if group != "pool"
                      for name, value in found["metrics"].items()
                      if name not in measured_before or f"{group.replace(' ', '_')}.{name}" in row}
            rows.append({**kept, **told, **{name: one[name] for name in one.metrics}, **groups})
            measured.update(dict.fromkeys(one.metrics))
        return Records(rows, lambda: list(measured))


def open_store(folder: Union[str, "os.PathLike[str]"] = "openset-store") -> Store:
    """The store in `folder`."""
    return Store(folder)
