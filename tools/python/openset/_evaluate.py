"""openset.evaluate(), compare() and threshold(): the numbers of the commands eval, compare and threshold."""
import html
import json

from openset import _arrays, _program


def flags(**values):
    """--name=value for each value that is given."""
    words = []
    for name, value in values.items():
        if value is None or value is False or value == () or value == []:
            continue
        if value is True:
            words.append(f"--{name}")
        else:
            words.append(f"--{name}={','.join(map(str, value)) if isinstance(value, (list, tuple)) else value}")
    return words


class Result:
    """What a command found: `rows`, a dict a row of its table, and `json`, all of it."""

    def __init__(self, found, rows):
        self.json = found
        self.rows = rows

    def to_frame(self):
        """A pandas.DataFrame of the rows."""
        import pandas
        return pandas.DataFrame(self.rows)

    def _cells(self):
        columns = list(dict.fromkeys(column for row in self.rows for column in row))
        return columns, [[_text(row.get(column)) for column in columns] for row in self.rows]

    def to_latex(self):
        """A tabular with booktabs' rules."""
        columns, rows = self._cells()
        lines = [f"\\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}", "  \\toprule"]
        body = [columns, *rows]
        for at, row in enumerate(body):
            lines.append("  " + " & ".join(_latex(cell) for cell in row) + r" \\")
            if at == 0:
                lines.append("  \\midrule")
        return "\n".join([*lines, "  \\bottomrule", "\\end{tabular}", ""])

    def _repr_html_(self):
        columns, rows = self._cells()
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self):
        columns, rows = self._cells()
        widths = [max(map(len, cells)) for cells in zip(columns, *rows)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in [columns, *rows])


def _text(value):
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _latex(text):
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    return text


class Evaluation(Result):
    """Metrics by name: `evaluation["auroc"]` is the value, a share in 0 .. 1 where the unit is "share".

    `metrics[name]` also has `low` and `high` (with ci=True), `unit`, `higher_is_better` and `label`. A metric that is
    undefined on the samples is None, with the reason.
    """

    def __init__(self, found):
        self.metrics = found["metrics"]
        super().__init__(found, [{"metric": name, **_row(metric)} for name, metric in self.metrics.items()])

    def __getitem__(self, name):
        return self.metrics[name].get("value")


def _row(metric):
    kept = ("value", "low", "high", "unit", "higher_is_better")
    return {name: metric[name] for name in kept if name in metric}


def evaluate(*, label, logits=None, unknown_score=None, prediction=None, features=None, head_weight=None,
             head_bias=None, group=None, group_names=None, num_classes=None, score=None, fit=None, metrics=None,
             ci=False, ci_method=None, replicates=None, level=None, seed=None, convention=None, higher_is_known=False,
             near=(), far=(), unknown=(), known=(), skip=()):
    """Measures samples: all metrics, or `metrics`, of your scores or logits. The numbers are those of `openset eval`.

    label [N]: the index of the known class, -1 = unknown. logits [N, K], or unknown_score [N] (larger = more unknown,
    unless higher_is_known) and prediction [N]. features [N, D], head_weight [K, D], head_bias [K] and `fit`, a dict of
    such arrays of training samples, are for scores that need them. group [N]: names of the sets of unknown samples,
    or indices into group_names; near, far, ... name sets. score: "energy", "knn { k: 50 }".

    >>> import numpy, openset
    >>> found = openset.evaluate(label=[0, 1, -1, -1], unknown_score=[.1, .2, .15, .9], prediction=[0, 1, 0, 0])
    >>> found["auroc"], found["accuracy"]
    (0.75, 1.0)
    """
    arrays = dict(label=label, logits=logits, unknown_score=unknown_score, prediction=prediction, features=features,
                  head_weight=head_weight, head_bias=head_bias, group=group, group_names=group_names,
                  num_classes=num_classes)
    with _arrays.Files() as files:
        arguments = ["eval", files.add("samples", arrays), "--format=json"]
        arguments += flags(score=score, fit=fit and files.add("fit", fit), metrics=_metrics(metrics), ci=ci,
                           ci_method=ci_method, replicates=replicates, level=level, seed=seed, convention=convention,
                           higher_is_known=higher_is_known, near=near, far=far, unknown=unknown, known=known, skip=skip)
        return Evaluation(json.loads(_program.run(arguments, files.renamed)))


def compare(methods, *, metrics=None, score=None, ci_method=None, replicates=None, level=None, seed=None):
    """Compares methods on the same samples. methods: {name: dict of the arrays of evaluate()}.

    Rows: the difference of two methods, its interval, p, Holm's p and the verdict, for each metric.

    >>> import openset
    >>> a = dict(label=[0, 1, -1, -1], unknown_score=[.1, .2, .15, .9])
    >>> openset.compare({"a": a, "b": a}, metrics=["auroc"]).rows[0]["verdict"]
    'no detectable difference'
    """
    with _arrays.Files() as files:
        arguments = ["compare", *(files.add(name, arrays) for name, arrays in methods.items()), "--format=json"]
        arguments += flags(metrics=_metrics(metrics), score=score, ci_method=ci_method, replicates=replicates,
                           level=level, seed=seed)
        found = json.loads(_program.run(arguments, files.renamed))
    return Result(found, found["comparisons"])


class Threshold(Result):
    """A threshold: samples whose unknown score is larger are rejected. `validation` and `test`: what it does there."""

    def __init__(self, found):
        self.value = found["threshold"]
        self.validation = found["validation"]
        self.test = found.get("test")
        names = [name for name, value in self.validation.items() if isinstance(value, (int, float))]
        super().__init__(found, [{"quantity": name, "validation": self.validation[name],
                                  **({"test": self.test.get(name)} if self.test else {})} for name in names])

    def rejects(self, unknown_score):
        """Whether each sample is rejected: [N] of bool."""
        return _arrays.to_numpy("unknown_score", unknown_score) > self.value


def threshold(validation, test=None, *, rule=None, target=None, delta=None, score=None, fit=None):
    """Chooses a threshold on `validation`, a dict of the arrays of evaluate(), and says what it does there and on `test`.

    >>> import openset
    >>> chosen = openset.threshold(dict(label=[0, 0, 1, 1], unknown_score=[.1, .2, .3, .4]), target=0.75)
    >>> chosen.value, chosen.rejects([.2, .35]).tolist()
    (0.3, [False, True])
    """
    with _arrays.Files() as files:
        arguments = ["threshold", files.add("validation", validation)]
        if test is not None:
            arguments.append(files.add("test", test))
        arguments += ["--format=json"]
        arguments += flags(rule=rule, target=target, delta=delta, score=score, fit=fit and files.add("fit", fit))
        return Threshold(json.loads(_program.run(arguments, files.renamed)))


def _metrics(metrics):
    return ", ".join(metrics) if isinstance(metrics, (list, tuple)) else metrics
