#!/usr/bin/env python3
"""Reports and figures of a study, which are made only from the existing records, and messages about its results."""
import collections
import csv
import io
import json
import math
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "tools/testing")
from program import (NEAR_FAR_STUDY, NEAR_FAR_TASK, TEMPORARY, Program, ProgramTest, changed_record, main)  # noqa: E402


class StudyTest(ProgramTest):
    """A copy of a store with the near and far study: two methods, seeds 0 and 1."""

    @classmethod
    def setUpClass(cls):
        cls.studied = Program(TEMPORARY / "studied")
        cls.studied.write_near_far_study()
        cls.studied.must_run("run study.textproto")
        cls.studied.path("study.textproto").unlink()  # as if it had moved to each test's folder

    def setUp(self):
        super().setUp()
        shutil.copytree(self.studied.store, self.program.store)
        self.program.write_near_far_study()

    def report(self, flags):
        return self.out("report study.textproto " + flags)

    def needed(self):
        """The number of needed actions of each kind."""
        return collections.Counter(action["kind"] for action in self.json("plan study.textproto")["actions"]
                                   if action["needed"])


class ReportTest(StudyTest):
    def test_one_deleted_record_is_made_again_and_nothing_else(self):
        records = self.program.records()
        self.assertEqual(len(records), 4)
        self.program.files("openset-store/records")[0].unlink()
        self.assertEqual(self.needed(), {"evaluate": 1})
        self.says(self.report(""), "1 of 4 trials lacks only the evaluation by exactly these metrics")
        self.out("run study.textproto")
        self.assertEqual(self.program.records(), records)

    # The outputs still exist, so nothing is trained again.
    def test_a_new_metric_needs_only_an_evaluation(self):
        self.write("study.textproto", NEAR_FAR_STUDY + "metric { openauc {} }\n")
        self.says(self.report(""), "4 of 4 trials lack only the evaluation by exactly these metrics: `openset run` "
                  "makes them without training.")

    # Sets of unknown samples are columns, in a table for each metric of unknown samples. With one near and one far set,
    # a mean of near or far sets would be a copy.
    def test_sets_have_a_table(self):
        report = self.report("")
        table = report.split("near_far: AUROC, % ↑, each set of unknown samples against all known ones\n\n")[1]
        head, _, *rows = table.split("\n\n")[0].splitlines()
        self.assertEqual(head.split(), ["method", "near", "noise"])
        cells = {(cell["method"], cell["group"]): cell for cell in self.json("report study.textproto")["cells"]
                 if cell["metric"] == "auroc"}
        for row, method in zip(rows, ("mcp", "max_logit"), strict=True):
            shown = [cell_text(cell, cell["mean"], cell["std"])
                     for cell in (cells[method, "near"], cells[method, "noise"])]
            self.assertEqual(re.split("  +", row), [method, *shown])
        self.says_not(report, "mean of")

    # The time of a page: the CPU's, added up, and that of the clock, in which stages side by side count once.
    def test_the_page_says_how_long_it_took(self):
        stages = {stage["key"]: stage for record in self.program.shown_records()
                  for stage in record["provenance"]["stage"]}
        self.assertEqual(len(stages), 2 + 2 + 4)
        elapsed = until = 0
        for begin, end in sorted((one["started_at_seconds"], one["ended_at_seconds"]) for one in stages.values()):
            elapsed += max(0, end - max(begin, until))
            until = max(until, end)
        said = re.search(r"<td>([0-9.]+) (s|min) CPU, ([0-9.]+) (s|min) elapsed, in 8 stages</td>",
                         self.report("--format=html"))
        for number, unit, expected in ((said[1], said[2], sum(one["cpu_seconds"] for one in stages.values())),
                                       (said[3], said[4], elapsed)):
            self.assertAlmostEqual(float(number) * {"s": 1, "min": 60}[unit], expected,
                                   delta={"s": 0.51, "min": 3.1}[unit])

    # Every format lists the command line's overrides, and the page marks them in the spec.
    def test_names_overrides(self):
        flags = ("--set=training.epochs=2", "--set=test_limit_per_class=9")
        for form in ("text", "markdown", "latex", "csv", "json", "html"):
            report = self.report(f"--format={form} {' '.join(flags)}")
            self.says(report, *flags)
        self.says(report, "epochs: 2</mark>", "<mark>test_limit_per_class: 9</mark>")

    # Two seeds of one split are not tested: each format says so, and none has a star or a p-value.
    def test_two_seeds_are_not_tested(self):
        reason = "fewer than 3 splits, or seeds of one split"
        latex = self.report("--format=latex")
        self.says(latex, "\\begin{tabular}", "No stars: not tested against MCP: " + reason)
        self.says_not(latex, "*", "differs from")
        for form in ("text", "markdown", "html"):
            report = self.report("--format=" + form)
            self.says(report, "No stars: not tested against mcp: " + reason)
            self.says_not(report, "* differs")
        self.says(self.report("--format=csv"), f',"{reason}",')
        for cell in self.json("report study.textproto")["cells"]:
            self.assertFalse({"p_value", "detectable"} & cell.keys(), cell)
            self.assertEqual(cell.get("not_tested", ""), "" if cell["method"] == "mcp" else reason)

    # `openset compare` and the stars use the same tests; with two methods, all pairs are those with the baseline.
    def test_compare_has_the_p_values_of_the_stars(self):
        self.out("run study.textproto --seeds=0..2")
        report = self.json("report study.textproto --seeds=0..2")
        self.assertEqual(report["baseline"], "mcp")
        tests = 0
        for group in ("pool", "near", "noise"):
            compared = self.json(f"compare study.textproto --seeds=0..2 --metrics=auroc --group={group}")
            self.assertEqual(compared["baseline"], "mcp")
            for cell in report["cells"]:
                if cell["group"] != group or cell["metric"] != "auroc" or "p_value" not in cell:
                    continue
                tests += 1
                pair, = compared["pairs"]
                self.assertEqual((pair["a"], pair["p_holm"]), (cell["method"], cell["p_value"]))
                self.assertEqual(pair["verdict"] in ("max_logit is better", "mcp is better"), cell["detectable"])
        self.assertGreater(tests, 0)
        compare = "compare study.textproto --metrics=auroc "
        self.says(self.out(compare + "--baseline=max_logit"), "a - max_logit")
        self.fails(compare + "--baseline=max_logt", 2, "unknown baseline 'max_logt'; did you mean 'max_logit'?")
        self.says(self.out(compare + "--seeds=0..1"), "a - mcp")
        # With overrides on the command line, it is another study, which has no results here.
        self.fails("compare study.textproto --set=training.epochs=2", 2, "study.textproto: there are no results")
        self.write("runs.csv", "method,split,auroc\na,0,0.5\nb,0,0.6\n")
        self.fails("compare runs.csv --set=a=1", 2, "--set: is for a study, not for files")

    # A bundle and a query need neither the study nor its data.
    def test_of_records_alone(self):
        self.out("records export --bundle=all.zip")
        report = self.out("report all.zip")
        self.says(report, "max_logit ", "(n=2)")
        self.says_not(report, "no record yet")
        # A row with fewer runs says so, since its mean is over other runs.
        self.says(self.out("report 'method=max_logit or seed=0'"), "(n=2).", " (n=1)")
        some = self.out("report method=max_logit --format=csv")
        self.says(some, "\nmax_logit,")
        self.says_not(some, "\nsoftmax,", "\nmcp,")
        self.fails("report method=none", 2)
        self.out("report all.zip --format=html --out=all.html")
        self.says(self.read("all.html"), "<h1>all.zip</h1>")
        # A file name of another format.
        for name, message in (
                ("all.csv",
                 "--out: all.csv has the extension of csv, but --format=text was requested; add --format=csv"),
                ("all.parquet", "--out: report can't write .parquet; its formats are text (.txt), markdown (.md), "
                 "latex (.tex)")):
            self.fails("report all.zip --out=" + name, 2, message)
            self.assertEqual(self.read(name), "")
        self.out("report all.zip --out=all.log")
        # The same for the bundle's records.
        self.says(self.out("records ls all.zip method=max_logit"), "2 of 4 records")
        trial = min(self.program.records())
        self.says(self.out(f"records show all.zip {trial[:8]}"), f'trial_id: "{trial}')
        self.says(self.out("records verify all.zip"),
                  "4 records, 0 replicas, 0 checkpoints, 0 outputs, 0 failed attempts: 0 corrupt", "sha256 ")
        self.fails("records show all.zip", 2)  # ambiguous: there are four
        self.fails("report all.zip --store=none", 2, "all.zip is read instead of a store")

    def test_another_report_section_runs_nothing(self):
        records = self.program.records()
        self.says(self.report("--format=markdown"), "| method ")
        self.write("study.textproto",
                   NEAR_FAR_STUDY + "report { baseline: 'max_logit' row: 'metric' column: 'method' }\n")
        self.assertEqual(self.needed(), {})
        self.says(self.out("run study.textproto"), "study: all 4 trials are done; nothing to run.")
        self.assertEqual(self.program.records(), records)
        self.says_not(self.report("--format=markdown"), "| method ")


# Recomputes the cells of a report's tables from its exports, without code of openset.

def summary(values):
    """Mean and population standard deviation, added up in the order of the values."""
    def total(terms):  # not sum(), which newer versions of Python compensate
        added = 0.0
        for term in terms:
            added += term
        return added

    mean = total(values) / len(values)
    return mean, math.sqrt(total((value - mean) * (value - mean) for value in values) / len(values))


def tidy_values(content):
    """The values of each cell of the tidy table, in the table's order."""
    values = collections.defaultdict(list)
    table = csv.DictReader(io.StringIO(content))
    axes = table.fieldnames[table.fieldnames.index("openness") + 1:table.fieldnames.index("group")]
    for row in table:
        if row["value"]:
            swept = tuple(sorted((name, row[name]) for name in axes if row[name]))
            key = (row["method"], swept, row["task"], row["unknown_classes"], row["group"], row["metric"])
            values[key].append(float(row["value"]))
    return values


def cell_text(cell, mean, std):
    def shown(value):
        return f'{value * cell["display"]["factor"]:.{cell["display"]["digits"]}f}'

    spread = f" ± {shown(std)}" if len(cell["values"]) > 1 else ""
    return shown(mean) + spread + ("*" if cell.get("detectable") else "")


def markdown_cells(content):
    """All cells of the tables except the row names, without emphasis.

    Tables with published numbers repeat cells and are omitted.
    """
    cells, heads = [], None
    for line in content.splitlines():
        if not line.startswith("|"):
            heads = None
            continue
        parts = [part.strip().replace("**", "").replace("<u>", "").replace("</u>", "")
                 for part in line.split("|")[1:-1]]
        if heads is None:
            heads = parts
        elif "published" not in heads and not set(line) <= set("|-: "):
            cells += [part for head, part in zip(heads, parts) if head not in ("method", "unknown") and part]
    return cells


class CellsTest(StudyTest):
    # Means and standard deviations equal what the single values give, in the JSON and in the tidy table, to the last
    # bit; the texts in the Markdown tables are these numbers, scaled and rounded.
    def check_cells(self, report):
        tidy, texts = tidy_values(self.read("openset-store/reports/study/tidy.csv")), []
        for cell in report["cells"]:
            mean, std = summary(cell["values"])
            self.assertGreater(cell["n"], 0)
            self.assertEqual((cell["n"], cell["mean"], cell["std"]), (len(cell["values"]), mean, std), cell)
            key = (cell["method"], tuple(sorted(cell["axis"].items())), cell["task"], str(cell["unknown_classes"]),
                   cell["group"], cell["metric"])
            self.assertEqual(tidy.pop(key, None), cell["values"], cell)
            if not cell.get("mean_of_one"):  # a copy of a group's row, which tables leave out
                texts.append(cell_text(cell, mean, std))
        self.assertEqual(dict(tidy), {})
        self.assertEqual(sorted(markdown_cells(self.read("openset-store/reports/study/report.md"))), sorted(texts))

    def test_cells_follow_from_their_single_values(self):
        report = self.program.report("study")
        # 2 methods: accuracy, AUROC and AURC on the pool; AUROC on two groups and in two means.
        self.assertEqual(len(report["cells"]), 2 * (3 + 4))
        self.check_cells(report)
        # A changed digit is found.
        changed = json.loads(json.dumps(report))
        changed["cells"][0]["mean"] += 0.1
        with self.assertRaises(AssertionError):
            self.check_cells(changed)


# If TeX has no booktabs (as in Debian's texlive-latex-base), defines its rules as lines.
DOCUMENT = r"""\documentclass{article}
\IfFileExists{booktabs.sty}{\usepackage{booktabs}}{\let\toprule\hline\let\midrule\hline\let\bottomrule\hline}
\begin{document}
See Table~\ref{tab:study}.
\input{table}
\end{document}
"""


class LatexTest(StudyTest):
    # Skipped at its end, with a message, if the machine has no TeX.
    def test_compiles_with_a_real_tex(self):
        self.write("report.tex", DOCUMENT)
        for flags, said, not_said in (
                ("", ("population standard deviation", "\\label{tab:study}"), ()),
                ("--spread=sample --digits=1 --sort=auroc", ("sample standard deviation",), ("population",)),
                ("--spread=interval --rows=method --columns=group,metric", ("half of the 95 \\% interval",), ())):
            self.report("--format=latex --out=table.tex " + flags)
            self.says(self.read("table.tex"), *said)
            self.says_not(self.read("table.tex"), *not_said)
            if shutil.which("pdflatex"):
                log = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
                                     cwd=self.program.folder, stdout=subprocess.PIPE, text=True, check=True).stdout
                self.says(log, "Output written on report.pdf")
        for flags, message in (("--format=csv --digits=1", "--digits: applies to text, markdown and latex tables"),
                               ("--spread=std", "--spread: unknown spread"),
                               ("--digits=13", "--digits: must lie in 0 .. 12"),
                               ("--sort=aurc,", "--sort: unknown metric")):
            self.fails("report study.textproto " + flags, 2, message)
        if not shutil.which("pdflatex"):
            self.skipTest("no TeX on this machine (apt-get install texlive-latex-base): nothing was compiled")


class FigureTest(StudyTest):
    def drawn(self, flags, name):
        self.out(f"figure study.textproto {flags} --out={name}")
        return self.read(name)

    def test_of_a_study(self):
        self.out("figure study.textproto --improvement=auroc")
        improvement = self.read("study_improvement_auroc.svg")
        self.says(improvement, "relative change of AUROC, % of MCP's", "MaxLogit")
        self.says_not(improvement, "max_logit")
        for flags, said, not_said in (
                ("--improvement=auroc --labels=names", ("relative change of AUROC, % of mcp's", "max_logit"), ()),
                ("--curve=roc --spread=interval", ("mean, in its 95 % interval", ">MCP<"), ()),
                ("--softmax=near,noise --softmax_classes=3",
                 ("mean softmax", "MCP: near", "MCP: noise", "MaxLogit"), ()),
                ("--softmax=near --methods=mcp", (), ("MaxLogit",)),
                ("--curve=categories_mcp", (">near<", ">far<", "known, right"), ()),
                ("--curve=density_mcp", ("noise (far)",), ()),
                ("--curve=roc --title=Receivers --legend=none", (">Receivers<",), (">ROC<", ">MCP<")),
                ("--curve=roc --title=none --legend=right", (">MCP<",), (">ROC<",))):
            figure = self.drawn(flags, "figure.svg")
            self.says(figure, "</svg>", *said)
            self.says_not(figure, *not_said)
        # One seed or two of one split can't be tested: no bar is solid or faint.
        for seeds in ("--seeds=0..1", "--seeds=0"):
            bars = self.drawn("--improvement=auroc " + seeds, "bars.svg")
            self.says(bars, 'fill-opacity="0"',
                      ">outlined: not tested, fewer than 3 splits, or seeds of one split<")
            self.says_not(bars, "solid: ", "faint: ")
        self.assertTrue(self.drawn("--curve=roc --width=page", "roc.pdf").startswith("%PDF"))

    def test_bad_input(self):
        for flags, message in (
                ("--improvement=arouc", "unknown figure 'arouc'; did you mean 'auroc'?"),
                ("--softmax=nera", "unknown set of unknown samples 'nera'; did you mean 'near'?"),
                ("--x=lambda", "request a study's figure with --x=FIELD and --y=METRIC"),
                ("--width=column", "request a study's figure with --x=FIELD and --y=METRIC"),
                ("--curve=roc --folder=f", "--folder: is for"),
                ("--curve=roc --improvement=auroc", ""),
                ("--softmax=near --softmax_classes=0", ""),
                ("--improvement=auroc --spread=sample", "--spread: applies only to --x with --y"),
                ("--curve=roc --labels=title", "unknown label 'title'; did you mean 'titles'?"),
                ("--curve=roc --legend=left", "--legend: unknown place 'left' (known: top, right, bottom, none)"),
                ("--improvement=auroc --store=empty", "there is nothing to draw: 0 of 4 trials have a record")):
            self.fails("figure study.textproto " + flags, 2, message)
        self.fails("figure toy_softmax --out=toy.pdf", 2, "--out: is for a study's figure")

    # A bundle gives all figures that need only records.
    def test_of_a_bundle(self):
        self.out("records export --bundle=all.zip")
        self.assertEqual(self.out("figure all.zip --curve=roc"), "all_roc.svg\n")
        self.says(self.read("all_roc.svg"), ">MCP<")
        self.out("figure all.zip --improvement=auroc --baseline=max_logit")
        self.says(self.read("all_improvement_auroc.svg"), "% of MaxLogit's")
        for flags, message in (
                ("--improvement=auroc", "choose one with --baseline: max_logit, mcp"),
                ("--improvement=auroc --baseline=max_logti", "unknown baseline 'max_logti'; did you mean 'max_logit'?"),
                ("--softmax=near", "records don't have"),
                ("--curve=roc --seeds=0", "--seeds: is for a study, not for a bundle")):
            self.fails("figure all.zip " + flags, 2, message)
        self.says(self.out("compare all.zip --baseline=mcp --metrics=auroc"), "a - mcp")


class MessagesTest(ProgramTest):
    """About a study: failures, likely mistakes, the reasons for actions, and differences between two stores."""

    def write_study(self, *changes):
        """The near and far study with changes, and a second split of its task."""
        self.write("tasks/near_far.textproto", NEAR_FAR_TASK + "split { known: [0, 1, 2, 6] }\n")
        study = NEAR_FAR_STUDY
        for old, new in changes:
            self.assertEqual(study.count(old), 1, old)
            study = study.replace(old, new)
        self.write("study.textproto", study)

    def test_failures_by_method_splits_and_seed(self):
        self.write("methods/bad.textproto",
                   "name: 'bad' base: 'softmax' training { optimizer { learning_rate: 1e20 } }")
        self.write_study(('"max_logit"', '"bad"'), ("split: 0", "split: [0, 1]"), ("seed: [0, 1]", "seed: 1"),
                         ("optimizer { learning_rate: 0.02 }", ""))
        self.says(self.fails("run study.textproto", 1).out, "\n2 of 4 trials failed: bad, splits 0 and 1, seed 1.\n")

    def test_one_run_has_no_spread_and_reevaluations_are_named(self):
        self.write_study(("seed: [0, 1]", "seed: 0"))
        run = self.out("run study.textproto")
        self.says(run, "\nOne run: no spread.\n")
        self.says_not(run, "±")
        self.write("study.textproto", self.read("study.textproto") + "metric { openauc {} }\n")
        trial = self.json("plan study.textproto")["trials"][0]["id"]
        explained = self.out(f"explain {trial} study.textproto")
        self.assertRegex(explained, "  infer [0-9a-f]{12}: done\n")
        self.assertRegex(explained, "  evaluate [0-9a-f]{12}: will be evaluated: no stored result has exactly these "
                         "metrics\n")

    # Each step sets the weights to 0, so that all predictions are one class, which a quarter of the samples have.
    def test_a_hint_names_split_and_seed(self):
        self.write_study(("optimizer { learning_rate: 0.02 }",
                          "optimizer { learning_rate: 0.01 sgd {} weight_decay: 99 }"),
                         ("split: 0", "split: 1"), ("epochs: 1", "epochs: 2"))
        hints = self.program.must_run("run study.textproto").err
        for seed in (0, 1):
            self.says(hints, f"hint: mcp on near_far, split 1, seed {seed}: accuracy is 25.0 % on 200 known samples, "
                      "no better than guessing ")

    # The hint has the lowest trial of a row, and the mean that the table shows.
    def test_a_hint_has_the_mean_of_the_table(self):
        self.write_study()
        self.out("run study.textproto")
        for path in self.program.files("openset-store/records"):
            record = self.program.record(path.stem)
            if record["trial"]["method"]["name"] == "mcp":
                path.write_bytes(self.with_auroc(path, 0.25 if record["trial"]["seed"] == "1" else 0.375))
        self.assertRegex(self.program.must_run("report study.textproto").err,
                         r"hint: AUROC is below 50 %.* by mcp \(25\.0 % at split 0, seed 1; "
                         r"mean of the table 31\.2 %\)")

    # No seed alone says it; together they do: 46 % with a standard error of 0.4.
    def test_a_hint_at_seeds_together(self):
        self.write_study(('["mcp", "max_logit"]', '"mcp"'), ("seed: [0, 1]", "seed: [0, 1, 2, 3]"))
        self.out("run study.textproto")
        for values, is_below in (((0.47, 0.46, 0.45, 0.46), True), ((0.53, 0.54, 0.55, 0.54), False)):
            for path in self.program.files("openset-store/records"):
                path.write_bytes(self.with_auroc(path, values[int(self.program.record(path.stem)["trial"]["seed"])]))
            said = self.program.must_run("report study.textproto").err
            (self.says if is_below else self.says_not)(said, "by mcp (46.0 % over 4 seeds together)" if is_below else
                                                       "seeds together")

    def with_auroc(self, path, auroc, *changes):
        """The record file with another AUROC of the pool, which comes first."""
        names = [metric["name"] for metric in self.program.record(path.stem)["metric"]]
        return changed_record(path, f"metric[{names.index('auroc')}].value {auroc}", *changes)

    # Two stores have a record of the same trial, made with the kernels of two CPUs.
    def test_differences_between_two_laboratories(self):
        self.write_study(("seed: [0, 1]", "seed: 0"), ('["mcp", "max_logit"]', '"mcp"'))
        self.out("run study.textproto")
        path, = self.program.files("openset-store/records")
        trial = path.stem

        def record_of(host, kernels, auroc):
            return self.with_auroc(path, auroc, *(f"provenance.stage[{stage}].{change}" for stage in range(3)
                                                  for change in (f"host {host}", f"cpu_capability {kernels}")))

        other = record_of("lab-b", "DEFAULT", 0.4737781)
        path.write_bytes(record_of("lab-a", "AVX2", 0.4737780))
        self.write("other/version", self.read("openset-store/version"))
        self.write(f"other/records/{trial[:2]}/{trial}.rec", other)
        both = "lab-a (AVX2) 0.4737780; lab-b (DEFAULT) 0.4737781"
        self.says(self.out("records merge other"), "1 with other numbers", both)
        # A report by query says so too.
        self.says(self.out("report split=0 --format=json"), ", split 0, seed 0: auroc: ", both)
        # The two records are compared, named once, twice, or by the other store.
        for records in (trial, f"{trial} {trial}", f"{trial} other"):
            self.says(self.out("records diff " + records), "measured on lab-a\nb  ", "measured on lab-b\n",
                      "settings: the same\ndata: the same\n", "auroc: 0.473778; 0.4737781 (changed by +1e-07)")
        self.fails(f"records diff {trial} --store=other", 2, f"has one record of trial {trial}")


del StudyTest  # has no tests of its own

if __name__ == "__main__":
    main()
