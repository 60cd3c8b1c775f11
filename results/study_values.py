"""The values of a study that the templates of results/ name, from the records of its bundle, through the program."""

import hashlib
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

MINUS = "\N{MINUS SIGN}"


def signed(number, digits):
    text = f"{number:.{digits}f}"
    return text.replace("-", MINUS if float(text) else "")


class Study:
    """One bundle, and what the program says of it."""

    def __init__(self, program, name, results):
        self.program, self.name = program, name
        self.folder = os.path.join(results, name)
        self.bundle = os.path.join(self.folder, name + ".zip")
        # A study of files of arrays can't be planned without them: its bundle has no baseline.
        self.source = self.bundle if os.path.exists(os.path.join(self.folder, "tasks")) else self.folder
        with tempfile.TemporaryDirectory() as elsewhere:  # a folder is whole: it can be copied anywhere
            alone = shutil.copytree(self.folder, os.path.join(elsewhere, name))
            self.report = self.ask("report", self.source.replace(self.folder, alone), "--format=json")
        if self.source == self.bundle:
            with open(os.path.join(self.folder, name + ".textproto"), encoding="utf-8") as spec:
                self.report["baseline"], = re.findall(r'baseline: "(.*)"', spec.read())
        self.records = self.ask("records", "ls", self.bundle, "measured_on=test or measured_on=validation", "--format=json")
        self.compared, self.filled, self.sequential = {}, set(), {}
        # The draws of the page's tables; the bundle has more if rows went on until they were decided.
        self.draws = {split for cell in self.report["cells"] for split in cell["splits"]}
        self.says_images = False

    def ask(self, *words):
        done = subprocess.run([self.program, *words], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    # Values. A method is named as in tables; `where` are fields of a cell: group, task, unknown_classes, axis.

    def cell(self, method, metric, axis=None, group="pool", **where):
        found = [c for c in self.report["cells"] if c["method"] == method and c["metric"] == metric
                 and c.get("group", "pool") == group and (axis is None or axis in c["axis"].values())
                 and all(c[field] == value for field, value in where.items())]
        if len(found) != 1:
            sys.exit(f"{self.name}: {len(found)} cells for {method}, {metric}, {axis}, {group}, {where}")
        return found[0]

    def mean(self, *names, digits=None, **where):
        cell = self.cell(*names, **where)
        if cell.get("mean") is None:
            return "\N{EM DASH}"
        shown = cell["display"]
        return signed(shown["factor"] * cell["mean"], shown["digits"] if digits is None else digits)

    def spread(self, *names, **where):
        cell = self.cell(*names, **where)
        if cell.get("mean") is None:
            return "\N{EM DASH}"
        shown = cell["display"]
        if cell["n"] == 1:
            return self.mean(*names, **where)  # one run has no spread
        return f"{self.mean(*names, **where)} ± {shown['factor'] * cell['std']:.{shown['digits']}f}"

    def of_split(self, split, metric, axis):
        """One run's value, of the row that has `axis` in its swept field."""
        found = [r for r in self.records if r["split"] == split and axis in map(str, r.values())]
        if len(found) != 1:
            sys.exit(f"{self.name}: {len(found)} records of split {split}, {axis}")
        shown = self.report["cells"][0]["display"] if metric == "accuracy" else self.cell(
            found[0]["method"], metric, axis=axis)["display"]
        return signed(shown["factor"] * found[0][metric], shown["digits"])

    def of_trial(self, trial, metric, digits=2):
        """One record's number in percent; `trial` is the beginning of its id. "clothes.auroc" is of the group clothes."""
        found = [r for r in self.records if r["trial"].startswith(trial) or r.get("former_trial", "").startswith(trial)]
        if len(found) != 1:
            sys.exit(f"{self.name}: {len(found)} records of trial {trial}")
        return signed(100 * found[0][metric], digits)

    def between_seeds(self, trial, metric):
        """How far two seeds of a draw are apart on average, in points, in the row of this trial."""
        first, = (r for r in self.records if r["trial"].startswith(trial) or r.get("former_trial", "").startswith(trial))
        level = ("method", "task", "unknown_classes", "score", "lambda")
        of_draw = {}
        for row in self.records:
            if all(row.get(field) == first.get(field) for field in level) and metric in row and row["split"] in self.draws:
                of_draw.setdefault(row["split"], []).append(row[metric])
        gaps = [abs(a - b) for a, b in (values for values in of_draw.values() if len(values) == 2)]
        return f"{100 * sum(gaps) / len(gaps):.1f}"

    # Differences: openset compare, paired by split and seed, clustered by split.

    def pair(self, a, b, metric, group="pool", levels=None):
        if (metric, group) not in self.compared:
            self.compared[metric, group] = self.ask(
                "compare", self.source, f"--metrics={metric}", f"--group={group}", "--all_pairs", "--format=json")["pairs"]
        full = {self.label(c["method"], next(iter(c["axis"].values()), None)): self.full_name(c["method"], c["axis"])
                for c in self.report["cells"]}
        a, b = full.get(a, a), full.get(b, b)
        for pair in self.compared[metric, group]:
            if levels is not None and f"{levels} unknown" not in pair["task"]:
                continue
            if (pair["a"], pair["b"]) == (a, b):
                return pair, 1
            if (pair["a"], pair["b"]) == (b, a):
                return pair, -1
        for name in (a, b):
            if name not in full.values():
                sys.exit(f"{self.name}: there is no row {name}; there are {list(full)}")
        return None, 0  # one of them has no results

    def difference(self, a, b, metric, group="pool", factor=100, digits=1, levels=None):
        """a minus b with its 95 % interval, in points: "0.4 (-1.2 to 2.0)"."""
        pair, sign = self.pair(a, b, metric, group, levels)
        if pair is None or pair.get("low") is None:
            return "no interval"
        ends = sorted(sign * factor * pair[end] for end in ("low", "high"))
        for _ in range(2):  # an end of 0.0 doesn't say on which side of 0 it is
            digits += any(end and not float(f"{end:.{digits}f}") for end in ends)
        return (f"{signed(sign * factor * pair['mean_difference'], digits)} "
                f"({signed(ends[0], digits)} to {signed(ends[1], digits)})")

    def tested(self, metric, group="pool"):
        """The cells of a metric and group with their tests against the baseline: a bundle's report has none, and compare
        has the same."""
        cells = [c for c in self.report["cells"] if c["metric"] == metric and c.get("group", "pool") == group]
        if self.source == self.bundle and (metric, group) not in self.filled:
            self.filled.add((metric, group))
            pairs = {pair["a"]: pair for pair in self.ask(
                "compare", self.source, f"--metrics={metric}", f"--group={group}",
                f"--baseline={self.report['baseline']}", "--format=json")["pairs"]}
            for cell in cells:
                pair = pairs.get(self.full_name(cell["method"], cell["axis"]), {})
                cell.update({field: pair[key] for field, key in (("p_value", "p_holm"), ("detects", "detects"))
                             if pair.get(key) is not None})
        return cells

    def differing(self, metric, group="pool", higher=True, **where):
        """Rows that differ from the report's baseline after Holm's correction over all tests of the metric."""
        found = []
        for cell in self.tested(metric, group):
            if cell.get("p_value", 1) >= 0.05:
                continue
            if any(cell[field] != value for field, value in where.items()):
                continue
            name = self.label(cell["method"], next(iter(cell["axis"].values()), None))
            if (cell["mean"] > self.baseline_mean(cell)) == higher:
                found.append(name)
        return found

    def baseline_mean(self, cell):
        same = ("metric", "task", "unknown_classes", "known_classes", "group")
        return next(c["mean"] for c in self.report["cells"] if self.full_name(c["method"], c["axis"]) == self.report["baseline"]
                    and all(c.get(field) == cell.get(field) for field in same))

    def full_name(self, method, axis):
        """A row's name in the program: its method, and its values of swept fields."""
        return ", ".join([method] + [f"{field} {value}" for field, value in axis.items()])

    def names(self, metric, group="pool", higher=True, **where):
        found = self.differing(metric, group, higher, **where)
        return ", ".join(f"`{name}`" for name in found) if found else "none"

    def count(self, metric, group="pool", higher=True, **where):
        return len(self.differing(metric, group, higher, **where))

    # What a test could have found: from the report, at the first of Holm's levels.

    def detects(self, cell):
        """"2.1", "2.1 (64 %)" with the share of the variance between draws; "" without a test."""
        if "detects" not in cell:
            return ""
        share = f" ({cell['split_share']:.0f} %)" if "split_share" in cell else ""
        return f"{self.size(cell['detects'], cell['display'])}{share}"

    @staticmethod
    def size(value, display):
        """"2.1"; of a share, no difference is above 100 points."""
        shown = display["factor"] * value
        return "none" if display["unit"] == "%" and shown > 100 else f"{shown:.{display['digits']}f}"

    def power(self, metric, group="pool", **where):
        """A sentence about all rows of a metric."""
        cells = [c for c in self.tested(metric, group)
                 if "detects" in c and all(c[field] == value for field, value in where.items())]
        if not cells:
            return "No test: there are fewer than three draws of classes, or seeds of one draw, with a difference that varies."
        shown = cells[0]["display"]
        found = sorted(c["detects"] for c in cells)
        unit = {"%": "points", "x1000": "thousandths"}.get(shown["unit"], "")
        ends = [self.size(found[0], shown), f"{self.size(found[-1], shown)} {unit}".rstrip()]
        text = f"{ends[0]} to {ends[1]}" if len(found) > 1 else ends[1]
        if ends[1].startswith("none"):  # more than the whole range of a share
            text = (f"no difference below 100 {unit} in any row" if ends[0] == "none" else
                    f"{ends[0]} {unit} in the best row; in some rows no difference below 100 {unit} can be detected")
        shares, of = [], "of the variance of a run's difference is "
        for share, what in (("split_share", "between draws"), ("image_share", "noise of the test samples")):
            values = sorted({f"{c[share]:.0f}" for c in cells if share in c}, key=float)
            if values:
                shares.append(f"{' to '.join(values[:1] + values[1:][-1:])} % {'' if shares else of}{what}")
        if any("split_share" in c for c in cells):
            shares.append("the rest between seeds")
        between = "; " + ", ".join(shares) if shares else ""
        images = ""
        if not any("image_share" in c for c in cells) and not self.says_images:
            self.says_images = True  # once a page
            images = " The records do not say which part of this variance is noise of the test samples."
        return (f"Detectable differences from `{self.report['baseline']}` in {cells[0]['column']} (found in 4 of 5 studies, "
                f"at the first of Holm's levels): {text}{between}.{images}")

    def images_later(self):
        """For a page that says it with image_share(): tables say nothing of the share of the test samples."""
        self.says_images = True
        return ""

    def image_share(self, draws, metric, group="pool", **where):
        """"3 to 40 %" of the variance of a run's difference from the baseline, over rows, that is noise of the test samples,
        from the records of these draws alone: older ones lack what it takes."""
        listed = ", ".join(map(str, draws))
        report = self.ask("report", self.source, "--set", f"split=[{listed}]", "--format=json")
        shares = sorted(c["image_share"] for c in report["cells"]
                        if c["metric"] == metric and c.get("group", "pool") == group and "image_share" in c
                        and all(c[field] == value for field, value in where.items()))
        assert shares, f"{self.name}: no record of draws {listed} tells the share of the test samples"
        return f"{shares[0]:.0f} to {shares[-1]:.0f} %"

    def claim(self, a, b, metric, expected="higher", group="pool", factor=100, levels=None, digits=1):
        """Three cells of a row of claims: a minus b with its interval, the detectable difference of this test alone, and
        what the interval says of 'a is `expected` than b'. A claim that is not seen is excluded beyond the interval's end
        on the claimed side if that is below one point or thousandth, and undecided otherwise."""
        pair, sign = self.pair(a, b, metric, group, levels)
        if pair is None or pair.get("low") is None:
            return "no interval | | open"
        ends = sorted(sign * factor * pair[end] for end in ("low", "high"))
        seen = "higher" if ends[0] > 0 else "lower" if ends[1] < 0 else ""
        unit = "points" if factor == 100 else "thousandths"
        largest = max(0, ends[1] if expected == "higher" else -ends[0])
        verdict = ("confirmed" if seen == expected else "contradicted here" if seen else
                   f"excluded beyond {largest:.{digits}f} {unit}" if largest < 1 else "undecided")
        detects = factor * pair["detects_alone"]
        return f"{self.difference(a, b, metric, group, factor, digits, levels)} {unit} | {detects:.{digits}f} | {verdict}"

    def correlation(self, a, b, method):
        """Two cells: Pearson's correlation of two metrics of a method over the means of draws with Fisher's 95 % interval."""
        draws = {}
        for row in self.records:
            if row["method"] == method and a in row and b in row and row["split"] in self.draws:
                draws.setdefault(row["split"], []).append(row)
        x, y = ([sum(row[metric] for row in rows) / len(rows) for rows in draws.values()] for metric in (a, b))
        mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
        products = sum((u - mean_x) * (v - mean_y) for u, v in zip(x, y))
        r = products / math.sqrt(sum((u - mean_x) ** 2 for u in x) * sum((v - mean_y) ** 2 for v in y))
        low, high = (math.tanh(math.atanh(r) + z / math.sqrt(len(x) - 3)) for z in (-1.96, 1.96))
        verdict = "confirmed" if low > 0 else "contradicted here" if high < 0 else "undecided"
        return f"r = {signed(r, 2)} ({signed(low, 2)} to {signed(high, 2)}) over the means of {len(x)} draws | | {verdict}"

    # Rows that go on until they are decided: openset report --until. `text` is that flag.

    VERDICTS = {"higher": "higher", "lower": "lower", "excluded": "excluded beyond 1 point", "undecided": "undecided",
                "open": "open", "same": "the same trials"}

    def until(self, text, **where):
        """Its comparisons; `where` are fields of one: unknown_classes."""
        if text not in self.sequential:
            self.sequential[text] = self.ask("report", self.source, f"--until={text}", "--format=json")["until"]
        found = self.sequential[text]
        assert found["difference"] == 1
        return [c for c in found["comparisons"] if all(c[field] == value for field, value in where.items())]

    def until_names(self, verdict, text, **where):
        found = [self.row_label(c["row"]) for c in self.until(text, **where) if c["verdict"] == verdict]
        return ", ".join(f"`{name}`" for name in found) if found else "none"

    def until_count(self, verdict, text, **where):
        return sum(c["verdict"] == verdict for c in self.until(text, **where))

    def row_label(self, row):
        return next((self.label(c["method"], next(iter(c["axis"].values()), None)) for c in self.report["cells"]
                     if self.full_name(c["method"], c["axis"]) == row), row)

    def until_table(self, text, draws, **where):
        """A row for each comparison with more than one look, or for each if there is but one; `draws` of each look."""
        comparisons = [c for c in self.until(text, **where) if c["looks"] > (len(draws) > 1)]
        found = self.sequential[text]
        lines = [f"| method | finding | {found['metric'].upper()} minus that of `{found['baseline']}` | draws | looks |",
                 "| --- | --- | --- | --- | --- |"]
        for c in comparisons:
            shown = ""
            if c.get("low") is not None:
                mean, low, high = (100 * c[field] for field in ("mean_difference", "low", "high"))
                digits = 1
                for _ in range(2):  # an end of 0.0 doesn't say on which side of 0 it is, nor one of 1.0 of a point
                    digits += any(end and (not float(f"{end:.{digits}f}") or float(f"{abs(end):.{digits}f}") == 1)
                                  for end in (low, high))
                shown = f"{signed(mean, digits)} ({signed(low, digits)} to {signed(high, digits)})"
            seen = draws[c["looks"] - 1]
            assert c["verdict"] == "open" or seen == c["splits"], f"{self.name}: {c} was looked at with other draws than {draws}"
            lines.append(f"| `{self.row_label(c['row'])}` | {self.VERDICTS[c['verdict']]} | {shown} | {seen} | {c['looks']} |")
        return "\n".join(lines)

    # Tables.

    def rows(self):
        """(method, value of its swept field or None), in the order of the report."""
        found = []
        for cell in self.report["cells"]:
            row = (cell["method"], next(iter(cell["axis"].values()), None))
            if row not in found:
                found.append(row)
        return found

    def table(self, columns, baseline=None, sort=None, rows=None, compare="auroc", group="pool", **where):
        """columns: (title, metric, group). With a baseline, one more: the difference of `compare`, and its interval."""
        chosen = rows or self.rows()
        if sort:
            chosen = sorted(chosen, key=lambda row: -(self.cell(row[0], sort, axis=row[1], group=group, **where).get("mean") or 0))
        titles = ["method"] + [title for title, _, _ in columns]
        if baseline:
            tested = self.tested(compare, group)
            has_shares = any("split_share" in cell for cell in tested)
            titles += [f"{compare.upper()} minus that of `{baseline}`",
                       "detectable (variance between draws)" if has_shares else "detectable"]
        lines = ["| " + " | ".join(titles) + " |", "| " + " | ".join("---" for _ in titles) + " |"]
        for method, axis in chosen:
            name = self.label(method, axis)
            cells = [self.spread(method, metric, axis=axis, group=of, **where) for _, metric, of in columns]
            if baseline:
                cells.append("" if name == baseline else self.difference(name, baseline, compare, group))
                cells.append(self.detects(self.cell(method, compare, axis=axis, group=group, **where)))
            lines.append("| " + " | ".join([f"`{name}`"] + cells) + " |")
        return "\n".join(lines + ["", self.power(compare if baseline else columns[0][1], group, **where)])

    def label(self, method, axis):
        if axis is None:
            return method
        if len({cell["method"] for cell in self.report["cells"]}) == 1 or self.is_of_baseline(method):
            return axis
        name = next(key for cell in self.report["cells"] for key, value in cell["axis"].items() if value == axis)
        return f"{method}, {name} {axis}"

    def is_of_baseline(self, method):
        """Whether the baseline is this method with a value of its swept field."""
        return self.report.get("baseline", "").startswith(method + ", ")

    def choices(self):
        """A row for each search: how often each value was chosen."""
        counts = {}
        for line in self.report["searches"]:
            name, chosen = re.match(r"(.*?) \(tuned\) on .*?: (.*) \(best validation", line).groups()
            values = counts.setdefault(name, {})
            values[chosen] = values.get(chosen, 0) + 1
        lines = ["| method | chosen in how many runs |", "| --- | --- |"]
        lines += [f"| `{name}` | " + ", ".join(f"`{value}`: {count}" for value, count in sorted(values.items())) + " |"
                  for name, values in counts.items()]
        return "\n".join(lines)

    def levels_table(self, metric, field="unknown_classes", methods=None, **where):
        """A row for each method, a column for each level of openness."""
        cells = self.cells(metric, "pool")
        levels = sorted({(c["openness"], c["known_classes"], c["unknown_classes"]) for c in cells})
        lines = ["| method | " + " | ".join(f"{openness:.2f} ({known} : {unknown})" for openness, known, unknown in levels)
                 + " |", "| --- |" + " --- |" * len(levels)]
        for method in methods or [row[0] for row in self.rows()]:
            values = [self.spread(method, metric, known_classes=known, unknown_classes=unknown)
                      for _, known, unknown in levels]
            lines.append(f"| `{method}` | " + " | ".join(values) + " |")
        return "\n".join(lines + ["", self.power(metric)])

    # Orders, of what has a value.

    def cells(self, metric, group):
        return [c for c in self.report["cells"]
                if c["metric"] == metric and c.get("group", "pool") == group and c.get("mean") is not None]

    def order(self, metric, group="pool"):
        """The methods, the best first, by the mean of a metric; equal ones by name."""
        cells = self.cells(metric, group)
        best = -1 if cells[0]["higher_is_better"] else 1
        return [c["method"] for c in sorted(cells, key=lambda c: (best * c["mean"], c["method"]))]

    def best(self, metric, group="pool"):
        cells = self.cells(metric, group)
        cell = max(cells, key=lambda c: c["mean"] if c["higher_is_better"] else -c["mean"])
        return f"`{self.label(cell['method'], next(iter(cell['axis'].values()), None))}`"

    def place(self, method, metric, group="pool"):
        return self.order(metric, group).index(method) + 1

    def swaps(self, a, b, group="pool"):
        """How many pairs of methods the metrics a and b put in opposite orders."""
        first, second = self.order(a, group), self.order(b, group)
        return sum((second.index(x) - second.index(y)) * (first.index(x) - first.index(y)) < 0
                   for i, x in enumerate(first) for y in first[i + 1:])

    def flips(self, a, b, metric="auroc"):
        """How many pairs of rows the means of groups a and b put in opposite orders, and of how many."""
        first, second = ({self.full_name(c["method"], c["axis"]): c["mean"] for c in self.cells(metric, group)}
                         for group in (a, b))
        pairs = [(x, y) for x in first for y in first if x < y]
        opposite = sum((first[x] - first[y]) * (second[x] - second[y]) < 0 for x, y in pairs)
        return f"{opposite} of {len(pairs)}"

    def orders_differ(self, a, b):
        """Two cells of a row of claims."""
        swaps = self.swaps(a, b)
        return f"{swaps} of {self.pairs()} pairs of scores, in their means | | {'so in the means, untested' if swaps else 'not so in the means, untested'}"

    def best_differ(self, *groups, metric="auroc"):
        """Two cells of a row of claims: whether another method is best in each group."""
        best = [self.order(metric, group)[0] for group in groups]
        text = "; ".join(f"`{method}` on {group}" for group, method in zip(groups, best))
        return f"{text}, in their means | | {'so in the means, untested' if len(set(best)) == len(best) else 'not so in the means, untested'}"

    def pairs(self):
        count = len({c["method"] for c in self.report["cells"]})
        return count * (count - 1) // 2

    def places(self, metrics, group="pool"):
        """A row for each method: its value and its place by each of (title, metric)."""
        lines = ["| method | " + " | ".join(title for title, _ in metrics) + " |", "| --- |" + " --- |" * len(metrics)]
        for method in self.order(metrics[0][1], group):
            cells = [f"{self.mean(method, metric, group=group)} ({self.place(method, metric, group)})"
                     for _, metric in metrics]
            lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
        return "\n".join(lines + ["", self.power(metrics[0][1], group)])

    # Where, when and how long.

    def stages(self):
        """The stages of all records, each once: {(stage, key): fields}."""
        found = {}
        for record in record_files(self.bundle):
            for stage in fields_of(fields_of(record[57:])[PROVENANCE][0]).get(1, []):
                fields = fields_of(stage)
                found[fields[STAGE][0], fields[KEY][0]] = fields
        return found

    def provenance(self):
        stages = self.stages().values()
        text = {field: sorted({stage[field][0].decode() for stage in stages if field in stage})
                for field in (COMMIT, PROCESSOR, KERNELS)}
        where = (f" on {', '.join(text[PROCESSOR])} with kernels for {', '.join(text[KERNELS])}" if text[KERNELS] else
                 ", without LibTorch")
        seconds = sum(struct.unpack("<d", stage[CPU_SECONDS][0])[0] for stage in stages if CPU_SECONDS in stage)
        return (f"{len(self.records)} records, made in {seconds / 60:.1f} CPU minutes (a stage that several records\n"
                f"share counts once){where}, by commit\n"
                f"`{'`, `'.join(commit[:12] for commit in text[COMMIT])}`. SHA-256 of `{self.name}.zip`:\n"
                f"`{self.digest()}`.")

    def digest(self):
        with open(self.bundle, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()


# Fields of experiments/store/record.proto: of TrialRecord, then of StageProvenance.
PROVENANCE = 11
STAGE, KEY, COMMIT, PROCESSOR, KERNELS, CPU_SECONDS = 1, 2, 3, 9, 11, 17


def record_files(path):
    """The bytes of each record file of a bundle: members of the archive, or, since version 2, of records.tar.xz."""
    with zipfile.ZipFile(path) as bundle:
        names = bundle.namelist()
        for name in names:
            if name.endswith(".rec"):
                yield bundle.read(name)
        if "records.tar.xz" in names:
            with bundle.open("records.tar.xz") as stream, tarfile.open(fileobj=stream, mode="r|xz") as records:
                for member in records:
                    yield records.extractfile(member).read()


def fields_of(message):
    """The fields of a serialised message by their numbers: bytes, or the value of a varint."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            value = varint()
        else:
            size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
            value = message[at:at + size]
            at += size
        found.setdefault(tag >> 3, []).append(value)
    return found


class NotRun:
    """A study without a bundle: what it is asked for is not known."""

    def __init__(self, name):
        self.name = name

    def claim(self, *_, **__):
        return "no records yet | | open"

    correlation = orders_differ = best_differ = claim

    def __getattr__(self, _):
        return lambda *_, **__: "no records yet"


class Studies:
    """Studies of the folder `results` by name, each read once."""

    def __init__(self, program, results):
        self.program, self.results, self.studies = program, results, {}

    def __getitem__(self, name):
        if name not in self.studies:
            there = os.path.exists(os.path.join(self.results, name, name + ".zip"))
            self.studies[name] = Study(self.program, name, self.results) if there else NotRun(name)
        return self.studies[name]
