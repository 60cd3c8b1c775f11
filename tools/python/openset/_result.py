"""The result of a command, as a table."""
from __future__ import annotations

# typing takes longer to import than this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple

    Row = Dict[str, Any]


class Result:
    """The result of a command: `rows`, a dict for each row of its table, and `json`, the complete result. `hints`: what
    looks like a mistake in the samples, as the command's hints; each was also a warning, openset.HintWarning."""

    def __init__(self, found: Any, rows: List[Row], hints: Sequence[str] = ()) -> None:
        self.json = found
        self.rows = rows
        self.hints = list(hints)

    def to_frame(self) -> Any:
        """A pandas.DataFrame of the rows.

        >>> from openset._result import Result
        >>> Result(None, [{"metric": "auroc", "value": 0.75}]).to_frame()["value"].tolist()
        [0.75]
        """
        import pandas
        return pandas.DataFrame(self.rows)

    def _cells(self) -> Tuple[List[str], List[List[str]]]:
        columns = list(dict.fromkeys(column for row in self.rows for column in row))
        return columns, [[_text(row.get(column)) for column in columns] for row in self.rows]

    def to_latex(self) -> str:
        r"""A LaTeX tabular with booktabs rules.

        >>> from openset._result import Result
        >>> print(Result(None, [{"metric": "fpr_at_95tpr", "value": 0.5}]).to_latex())
        \begin{tabular}{lr}
          \toprule
          metric & value \\
          \midrule
          fpr\_at\_95tpr & 0.5 \\
          \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        columns, rows = self._cells()
        lines = [f"\\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}", "  \\toprule"]
        for at, row in enumerate([columns, *rows]):
            lines.append("  " + " & ".join(_latex(cell) for cell in row) + r" \\")
            if at == 0:
                lines.append("  \\midrule")
        return "\n".join([*lines, "  \\bottomrule", "\\end{tabular}", ""])

    def _repr_html_(self) -> str:
        import html
        columns, rows = self._cells()
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        columns, rows = self._cells()
        widths = [max(map(len, cells)) for cells in zip(columns, *rows)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in [columns, *rows])


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_LATEX = {**{character: "\\" + character for character in "&%$#_{}"}, "\\": r"\textbackslash{}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def whole(name: str, value: Any) -> Optional[int]:
    """An integer that is not negative, or None. Raises ValueError with the name."""
    import operator
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: must be a whole number (is {value!r})") from None
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{name}: must be a whole number from 0 (is {number})")
    return number


def real(name: str, value: Any) -> Optional[float]:
    """A number, or None. Raises ValueError with the name."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be a number (is {value!r})") from None


def names(value: Any) -> List[str]:
    """A list of names, or a text with names separated by commas."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else list(value)


def flags(**values: Any) -> List[str]:
    """--name=value for each value that is given."""
    words: List[str] = []
    for name, value in values.items():
        if value is None or value is False or (isinstance(value, (list, tuple)) and not value):
            continue
        if value is True:
            words.append(f"--{name}")
        else:
            words.append(f"--{name}={','.join(map(str, value)) if isinstance(value, (list, tuple)) else value}")
    return words


def metric_names(metrics: Optional[Any]) -> Optional[str]:
    return ", ".join(metrics) if isinstance(metrics, (list, tuple)) else metrics
