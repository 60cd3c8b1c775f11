"""Recomputes the cells of a report's tables from its exports: recompute_report.py REPORT_JSON TIDY_CSV REPORT_MD.

Means and population standard deviations must equal what the single values give, in the JSON and in the tidy table, to
the last bit; the texts in the Markdown tables must be these numbers, scaled and rounded. Uses no code of openset.
"""
import collections
import csv
import json
import math
import sys


def summary(values):
    """Mean and population standard deviation, added up in the order of the values."""
    total = 0.0
    for value in values:
        total += value
    mean = total / len(values)
    squares = 0.0
    for value in values:
        squares += (value - mean) * (value - mean)
    return mean, math.sqrt(squares / len(values))


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def tidy_values(path):
    """The values of each cell of the tidy table, in the table's order."""
    values = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        names = table.fieldnames
        axes = names[names.index("openness") + 1:names.index("group")]
        for row in table:
            if row["value"]:
                swept = tuple(sorted((name, row[name]) for name in axes if row[name]))
                key = (row["method"], swept, row["task"], row["unknown_classes"], row["group"], row["metric"])
                values[key].append(float(row["value"]))
    return values


def cell_text(cell, mean, std):
    def shown(value):
        return f'{value * cell["display"]["factor"]:.{cell["display"]["digits"]}f}'

    text = shown(mean)
    if len(cell["values"]) > 1:
        text += f" ± {shown(std)}"
    return text + ("*" if cell.get("detectable") else "")


def markdown_cells(path):
    """All cells of the tables except the row names, without emphasis. Tables with published numbers repeat cells and
    are omitted. """
    cells = []
    heads = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("|"):
                heads = None
                continue
            parts = [part.strip().replace("**", "").replace("<u>", "").replace("</u>", "")
                     for part in line.strip().strip("|").split("|")]
            if heads is None:
                heads = parts
            elif "published" not in heads and not set(line.strip()) <= set("|-: "):
                cells += [part for head, part in zip(heads, parts) if head not in ("method", "unknown") and part]
    return cells


def main(report_file, tidy_file, markdown_file):
    with open(report_file, encoding="utf-8") as file:
        report = json.load(file)
    tidy = tidy_values(tidy_file)
    texts = []
    for cell in report["cells"]:
        where = f'{cell["method"]}, {cell["group"]}, {cell["metric"]}'
        check(cell["n"] == len(cell["values"]) and cell["n"] > 0, f"{where}: n is {cell['n']}")
        mean, std = summary(cell["values"])
        check(mean == cell["mean"] and std == cell["std"], f"{where}: {mean} and {std}, not {cell['mean']} and {cell['std']}")
        swept = tuple(sorted(cell["axis"].items()))
        key = (cell["method"], swept, cell["task"], str(cell["unknown_classes"]), cell["group"], cell["metric"])
        check(tidy.pop(key, None) == cell["values"], f"{where}: other values in the tidy table")
        if not cell.get("mean_of_one"):  # a copy of a set's row, which tables leave out
            texts.append(cell_text(cell, mean, std))
    check(not tidy, f"cells that only the tidy table has: {list(tidy)[:3]}")
    shown = markdown_cells(markdown_file)
    check(sorted(shown) == sorted(texts), f"in the tables alone: {set(shown) - set(texts)}; missing there: {set(texts) - set(shown)}")
    print(f"{len(report['cells'])} cells")


main(*sys.argv[1:])
