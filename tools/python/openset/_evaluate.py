"""openset.evaluate(), compare() and threshold(): the numbers of the commands eval, compare and threshold, in process."""
from __future__ import annotations

from openset import _arrays, _library
from openset._own_score import OwnScore
from openset._result import Result, metric_names, names, real, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

    from openset._result import Row

    Arrays = Mapping[str, Any]
    # "energy", "knn { k: 50 }", openset.scores.KNN(k=50), or a function with @openset.score.
    ScoreLike = Any


# The columns of results over splits and seeds that are not metrics.
_RUN = ("method", "task", "group", "split", "seed", "unknown_classes")
# The other columns of records that are neither metrics nor settings of a study's axes.
_NOTES = ("trial", "former_trial", "openness", "experiment", "tag", "changed", "device", "host", "commit", "trained_as",
          "score_sha256", "overrides")


class Evaluation(Result):
    """Metrics by name: `evaluation["auroc"]` is the value, a share in 0 .. 1 where the unit is "share".

    `metrics[name]` also has `low` and `high` (with ci=True), `unit`, `higher_is_better` and `label`. A metric that is
    undefined on the samples is None; `absent[name]` is the reason. `score` is the name and SHA-256 of your own score,
    if you used one.
    """

    def __init__(self, found: Dict[str, Any], score: Optional[Dict[str, str]] = None,
                 hints: Sequence[str] = ()) -> None:
        self.metrics: Dict[str, Dict[str, Any]] = found["metrics"]
        self.absent: Dict[str, str] = found.get("absent", {})
        self.score = score
        super().__init__(found, [{"metric": name, **_row(metric)} for name, metric in self.metrics.items()], hints)

    def __getitem__(self, name: str) -> Optional[float]:
        if name not in self.metrics and name not in self.absent:
            name = self._meant(name)
        return None if name in self.absent else self.metrics[name].get("value")

    def _meant(self, name: str) -> str:
        """The measured metric of which this is another name (fpr95); KeyError if there is none."""
        measured = ", ".join(self.metrics)
        try:  # the program knows the synonyms
            known, _, _ = _library.call("evaluate", dict(metrics=name), [("samples", dict(
                label=[0, 1, -1], unknown_score=[0., 0., 1.], prediction=[0, 1, 0]))], is_quiet=True)
        except ValueError as error:
            raise KeyError(f"'{_arrays.printable(name)}' is no metric ({error}); measured are {measured}") from None
        meant = [one for one in known["metrics"] if one in self.metrics or one in self.absent]
        if len(known["metrics"]) != 1 or not meant:
            raise KeyError(f"'{_arrays.printable(name)}' was not measured; measured are {measured}")
        return meant[0]


class Evaluations(Result):
    """Evaluations of several scores by name: `found["energy"]`. Rows: one for each score, with a column for each
    metric."""

    def __init__(self, evaluations: Dict[str, Evaluation]) -> None:
        self.evaluations = evaluations
        rows = []
        for name, one in evaluations.items():
            row: Row = {"score": name, **{metric: one[metric] for metric in one.metrics}}
            rows.append({**row, "sha256": one.score["sha256"]} if one.score else row)
        super().__init__({name: one.json for name, one in evaluations.items()}, rows,
                         [f"{name}: {hint}" for name, one in evaluations.items() for hint in one.hints])

    def __getitem__(self, name: str) -> Evaluation:
        return self.evaluations[name]


def _row(metric: Dict[str, Any]) -> Row:
    kept = ("value", "low", "high", "unit", "higher_is_better")
    return {name: metric[name] for name in kept if name in metric}


def _score_text(score: ScoreLike) -> Any:
    """The score in the form of the command line; also for a fitted openset.scores.Score."""
    text = getattr(score, "spec", score)
    if text is None or isinstance(text, str):
        return text
    what = getattr(score, "__name__", type(score).__name__)
    raise ValueError(f"score: '{_arrays.printable(what)}' is a function: decorate it with @openset.score; one of "
                     "openset.scores is called, as in KNN(k=50)" if callable(score) else
                     f"score: must be a name ('energy'), an openset.scores.Score or a function with @openset.score (is "
                     f"{_arrays.printable(what)})")


def score_name(score: ScoreLike) -> str:
    return score.name if isinstance(score, OwnScore) else str(_score_text(score)).replace("{  }", "").strip()


def _own_scored(score: OwnScore, arrays: Dict[str, Any], fit: Optional[Arrays]) -> Dict[str, Any]:
    """`arrays` with the score; arrays that only a score needs are removed."""
    names = ("logits", "features", "head_weight", "head_bias")
    found = score.score_samples(fit=fit, **{name: arrays.get(name) for name in names})
    return {**{name: values for name, values in arrays.items() if name not in names[1:]}, "unknown_score": found}


def evaluate(*, label: Any = None, logits: Any = None, unknown_score: Any = None, prediction: Any = None,
             correct: Any = None, loss: Any = None, features: Any = None, head_weight: Any = None,
             head_bias: Any = None, group: Any = None, group_names: Any = None, num_classes: Any = None,
             class_names: Any = None, cluster: Any = None, score: ScoreLike = None, fit: Optional[Arrays] = None,
             validation: Optional[Arrays] = None, metrics: Union[str, Sequence[str], None] = None, ci: bool = False,
             ci_method: Optional[str] = None, replicates: Optional[int] = None, level: Optional[float] = None,
             seed: Optional[int] = None, convention: Optional[str] = None, higher_is_known: bool = False, near: Sequence[str] = (),
             far: Sequence[str] = (), unknown: Sequence[str] = (), known: Sequence[str] = (),
             skip: Sequence[str] = ()) -> Evaluation:
    """Measures samples: all metrics, or `metrics`, of your scores or logits, as `openset eval` does.

    label [N]: the index of the known class, -1 = unknown. logits [N, K], or unknown_score [N] (larger = more unknown,
    unless higher_is_known) and prediction [N]. Without classes: correct [N], 0 or 1, or loss [N] in 0 to 1; the label may
    be left out. features [N, D], head_weight [K, D], head_bias [K] and `fit`, a dict of such arrays of training samples,
    are for scores that need them. group [N]: names of the sets of unknown samples, or indices into group_names; near,
    far, ... name sets. class_names [C]: of the logits. cluster [N], whole or text: samples with the same one belong
    together, and intervals (ci) resample them together. score: "energy", "knn { k: 50 }", or your own function with @openset.score.
    validation: not read; collect() returns it.

    >>> import numpy, openset
    >>> found = openset.evaluate(label=[0, 1, -1, -1], unknown_score=[.1, .2, .15, .9], prediction=[0, 1, 0, 0])
    >>> found["auroc"], found["accuracy"]
    (0.75, 1.0)
    """
    arrays = dict(label=label, logits=logits, unknown_score=unknown_score, prediction=prediction, correct=correct,
                  loss=loss, features=features, head_weight=head_weight, head_bias=head_bias, group=group,
                  group_names=group_names, num_classes=num_classes, class_names=class_names, cluster=cluster)
    samples = dict(higher_is_known=bool(higher_is_known), near=names(near), far=names(far), unknown=names(unknown),
                   known=names(known), skip=names(skip))
    request = dict(metrics=metric_names(metrics), ci=bool(ci), convention=convention,
                   interval=_interval(ci_method, replicates, level, seed))
    return _evaluate(arrays, score, fit, samples, request)


def _interval(ci_method: Optional[str], replicates: Any, level: Any, seed: Any) -> Dict[str, Any]:
    return dict(ci_method=ci_method, replicates=whole("replicates", replicates), level=real("level", level),
                seed=whole("seed", seed))


def evaluate_scores(scores: Sequence[ScoreLike], **arguments: Any) -> Evaluations:
    """Measures several scores on the same samples, and returns one table. arguments: as of evaluate().

    >>> import openset
    >>> found = openset.evaluate_scores(["max_logit", "energy"], label=[0, -1], logits=[[4., 1.], [1., 1.5]],
    ...                                 metrics=["auroc"])
    >>> found
    score      auroc
    max_logit  1
    energy     1
    """
    found: Dict[str, Evaluation] = {}
    for one in scores:
        if score_name(one) in found:
            raise ValueError(f"scores: '{_arrays.printable(score_name(one))}' is given twice")
        found[score_name(one)] = evaluate(score=one, **arguments)
    return Evaluations(found)


def _evaluate(arrays: Dict[str, Any], score: ScoreLike, fit: Optional[Arrays], samples: Dict[str, Any],
              request: Dict[str, Any]) -> Evaluation:
    if isinstance(score, OwnScore):
        found = _evaluate(_own_scored(score, arrays, fit), None, None, samples, request)
        return Evaluation(found.json, score.source, found.hints)
    request = {**request, "samples": {**samples, "score": _score_text(score)}}
    found_json, _, hints = _library.call("evaluate", request, [("samples", arrays)], fit)
    return Evaluation(found_json, hints=hints)


def compare(methods: Any, *, metrics: Union[str, Sequence[str], None] = None, score: ScoreLike = None,
            fit: Optional[Arrays] = None, group: Optional[str] = None, ci_method: Optional[str] = None,
            replicates: Optional[int] = None, level: Optional[float] = None, seed: Optional[int] = None,
            cost_map: bool = False) -> Result:
    """Compares methods on the same samples. methods: {name: dict of the arrays of evaluate()}.

    Each dict may have its own `score`, as in evaluate(), and a `fit`; metrics of probabilities (NLL, ECE ...) then
    take softmax(logits) for each. Or `methods` is a pandas.DataFrame of results over splits and seeds: the columns
    method, task, split, seed, and one for each metric; other text columns are ignored. Of Records or their to_frame(),
    settings that differ become part of the method's name ("openauc, lambda 0.1"), and `group` names a group of unknown
    samples. A tidy table (Study.table()) is read, too.
    Rows: the difference of two methods, its interval, p, Holm's p and the verdict, for each metric.
    cost_map: by the expected cost over prevalences of unknown samples and costs of accepting one; rows: each method in
    each cell, its cost, and whether it is best, undecided or worse (`openset compare --cost_map`).

    >>> import openset
    >>> a = dict(label=[0, 1, -1, -1], unknown_score=[.1, .2, .15, .9])
    >>> b = dict(a, unknown_score=[.1, .3, .2, .9])
    >>> openset.compare({"a": a, "b": b}, metrics=["auroc"]).rows[0]["verdict"]
    'no detectable difference'
    """
    request: Dict[str, Any] = dict(metrics=metric_names(metrics), group=group,
                                   interval=_interval(ci_method, replicates, level, seed))
    if hasattr(methods, "to_frame"):
        methods = methods.to_frame()
    if cost_map and hasattr(methods, "to_csv"):
        raise ValueError("cost_map: compares scores on the same samples, not results over splits and seeds")
    if hasattr(methods, "to_csv"):
        with _arrays.Files() as files:
            path = files.path("results.csv")
            _tidy(methods).to_csv(path, index=False)
            found, _, hints = _library.call("compare_runs", {**request, "path": path}, renamed={path: "methods"})
        return Result(found, found["pairs"], hints)
    own = [1 for arrays in methods.values() if "score" in arrays or "fit" in arrays]
    alike = not isinstance(score, OwnScore) and not own
    if alike:
        sets = list(methods.items())
        request["samples"] = {"score": _score_text(score)}
    else:
        sets = [(name, scored(dict(arrays), score, fit)) for name, arrays in methods.items()]
    if cost_map:
        request["cost_map"] = True
    found, _, hints = _library.call("compare", request, sets, fit if alike else None)
    if cost_map:
        return Result(found, [{"prevalence": cell["prevalence"], "unknown_cost": cell["unknown_cost"], **method}
                              for cell in found["cells"] for method in cell["methods"]], hints)
    return Result(found, found["comparisons"], hints)


def _tidy(frame: Any) -> Any:
    """A frame of records (Records.to_frame()) as a table with a row for each run, group and metric, and a column for
    each setting that differs. Tables that are tidy already (Study.table()) and tables of others have the columns that
    compare() reads."""
    import pandas
    if {"metric", "value"} <= set(frame.columns):
        return frame
    metrics = [name for name in frame.attrs.get("openset_metrics", ()) if name in frame.columns]
    if not metrics:
        # Text columns that distinguish trials are not metrics.
        numbers = set(frame.select_dtypes("number").columns)
        return frame[[name for name in frame.columns if name in numbers or name in _RUN]]
    settings = [name for name in frame.columns if name not in (*metrics, *_RUN, *_NOTES)
                and frame[name].nunique(dropna=False) > 1]
    if "trained_as" in frame.columns and frame["trained_as"].nunique() > 1:
        settings.append("trained_as")
    kept = [name for name in frame.columns if name in _RUN] + settings
    twice = frame[frame.duplicated(kept, keep=False)] if "trial" in frame.columns else frame[:0]
    if len(twice):
        first = twice[(twice[kept].fillna("") == twice[kept].fillna("").iloc[0]).all(axis=1)]
        a, b = (str(trial)[:12] for trial in first["trial"].iloc[:2])
        run = ", ".join(f"{name} {first[name].iloc[0]}" for name in kept if name in ("method", "task", "split", "seed"))
        raise ValueError(f"methods: the records {a} and {b} are of one run ({run}), on other data or by another program: "
                         f"take one of them ('openset records diff {a} {b}' shows how they differ)")
    # A whole number beside a missing one is a float in pandas.
    frame = frame.assign(**{name: ["" if pandas.isna(value) else f"{value:.9g}" if isinstance(value, float) else value
                                   for value in frame[name]] for name in settings})
    parts = []
    for name in metrics:
        # "flat.fpr_at_0.95tpr" is the metric "fpr_at_0.95tpr" of the group "flat".
        metric = min((one for one in metrics if name == one or name.endswith("." + one)), key=len)
        group = name[:-len(metric) - 1] if name != metric else "pool"
        group = {"mean_of_near": "mean of near", "mean_of_far": "mean of far"}.get(group, group)
        parts.append(frame[kept].assign(group=group, metric=metric, value=frame[name]))
    return pandas.concat(parts)


def scored(arrays: Dict[str, Any], score: ScoreLike, fit: Optional[Arrays]) -> Dict[str, Any]:
    """The arrays with the unknown score computed by their own `score`, or otherwise by `score`, if there is one."""
    score, fit = arrays.pop("score", score), arrays.pop("fit", fit)
    if score is None:
        return arrays
    if isinstance(score, OwnScore):
        return _own_scored(score, arrays, fit)
    _, found, _ = _library.call("score", {"score": _score_text(score)}, [("samples", arrays)], fit,
                                wanted=["unknown_score"])
    return {**arrays, **found}


class Threshold(Result):
    """A threshold: samples whose unknown score is larger are rejected. `rule` and `target` chose it; `guarantee` says
    what holds for new samples, and when. `validation` and `test`: its effect on these samples."""

    def __init__(self, found: Dict[str, Any], hints: Sequence[str] = (), score: Optional[str] = None,
                 fit: Optional[Arrays] = None) -> None:
        self._score = score  # that openset computed from logits; None: the samples had their own
        self._fit = fit
        self.value: float = float(found["threshold"])  # "-inf" rejects all
        self.rule: str = found["rule"]
        self.target: Optional[float] = found.get("target")
        self.guarantee: str = found["guarantee"]
        self.validation: Dict[str, Any] = found["validation"]
        self.test: Optional[Dict[str, Any]] = found.get("test")
        names = [name for name, value in self.validation.items() if isinstance(value, (int, float))]
        super().__init__(found, [{"quantity": name, "validation": self.validation[name],
                                  **({"test": self.test.get(name)} if self.test else {})} for name in names],
                         hints)

    def __repr__(self) -> str:
        target = "" if self.target is None else f", target {self.target:g}"
        return (f"threshold {self.value!r}, chosen by {self.rule}{target}: a sample is rejected where its unknown score "
                f"is above it\n{self.guarantee}\n{super().__repr__()}")

    def rejects(self, unknown_score: Any = None, **outputs: Any) -> Any:
        """Whether each sample is rejected: [N] of bool. Raises ValueError for NaN.

        Give the unknown scores themselves (`openset.scores` computes openset's) or, if the threshold was chosen on
        logits, the outputs from which that score is computed again: logits=, features= ...
        """
        import numpy
        if (unknown_score is None) == (not outputs):
            raise ValueError("rejects: give either unknown_score or outputs (logits=, features= ...)")
        if outputs and self._score is None:
            raise ValueError("rejects: the threshold was chosen on scores that you gave: give unknown_score, of the "
                             "same score")
        if outputs:
            length = len(_arrays.to_numpy("logits", outputs.get("logits", ())))
            arrays = {"label": numpy.zeros(length, numpy.int64), **outputs}  # which have no effect
            unknown_score = _library.call("score", {"score": self._score}, [("outputs", arrays)], self._fit,
                                          wanted=["unknown_score"])[1]["unknown_score"]
        scores = _arrays.to_numpy("unknown_score", unknown_score)
        if numpy.isnan(scores).any():
            raise ValueError(f"unknown_score: {numpy.isnan(scores).sum()} of {scores.size} are NaN")
        rejected = scores > self.value
        if not outputs and self._score is not None and len(rejected) >= 20 and rejected.min() == rejected.max():
            _library.warn([f"all {len(rejected)} scores are {'above' if rejected[0] else 'at or below'} the threshold, "
                           f"which is one of openset's {self._score}: are they the same score? rejects(logits=...) "
                           "computes it"])
        return rejected


def threshold(validation: Arrays, test: Optional[Arrays] = None, *, rule: Optional[str] = None,
              target: Optional[float] = None, delta: Optional[float] = None, score: ScoreLike = None,
              fit: Optional[Arrays] = None) -> Threshold:
    """Chooses a threshold on `validation`, a dict of the arrays of evaluate(), and measures its effect there and on
    `test`.

    >>> import openset
    >>> chosen = openset.threshold(dict(label=[0, 0, 1, 1], unknown_score=[.1, .2, .3, .4]), target=0.75)
    >>> chosen.value, chosen.rejects([.2, .35]).tolist()
    (0.3, [False, True])
    >>> chosen = openset.threshold(dict(label=[0, 1], logits=[[3., 1.], [0., 1.]]), target=0.5)
    >>> chosen.rejects(logits=[[4., 1.], [0.5, 0.]]).tolist()
    [False, True]
    """
    sets = {"validation": dict(validation), **({"test": dict(test)} if test is not None else {})}
    if isinstance(score, OwnScore):
        sets = {name: _own_scored(score, arrays, fit) for name, arrays in sets.items()}
        score = fit = None
    text = _score_text(score)
    request = dict(samples={"score": text}, rule=rule, target=real("target", target), delta=real("delta", delta))
    found, _, hints = _library.call("threshold", request, list(sets.items()), fit)
    if text is None and sets["validation"].get("unknown_score") is None:
        text = "max_softmax"
    return Threshold(found, hints, text, fit)
