#!/usr/bin/env python3
"""Tests of the suite, in the folder of the source tree: suite_test.py Page, suite_test.py Differences PROGRAM, and
suite_test.py Suite PROGRAM LIBRARY.

Page: docs/conformance.md has each definition with its source. Differences: openset's commands of docs/known_differences.md
print what it says. Suite installs NumPy into a new environment (from the
package index): make_suite.py makes v1 again, past_bugs.py is caught, and openset passes through its command (PROGRAM)
and its Python module (LIBRARY: libopenset_measures.so).
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

NUMPY = "numpy==2.4.6"
V1 = "conformance/v1"
PROGRAM, LIBRARY = ([os.path.abspath(path) for path in sys.argv[2:4]] + ["", ""])[:2]


def expected(folder=V1):
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        return json.load(file)


def contents(path):
    """The bytes of each array, as Python's releases write different archives of the same arrays."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def lines_of_page():
    lines = ["| name | definition | source |", "| --- | --- | --- |"]
    for part in ("metrics", "scores"):
        for name, about in expected()[part].items():
            lines.append(f"| `{name}` | {about['definition']} | {about['source']} |".replace(" |x| ", " \\|x\\| "))
    return lines


class Page(unittest.TestCase):
    def test_each_metric_and_score_has_a_definition_a_tolerance_and_a_source(self):
        for part in ("metrics", "scores"):
            for name, about in expected()[part].items():
                self.assertTrue(about["definition"] and about["source"] and about["openset"], name)
                self.assertGreater(about["tolerance"], 0)

    def test_the_page_has_them(self):
        with open("docs/conformance.md", encoding="utf-8") as file:
            page = file.read()
        self.assertIn("\n".join(lines_of_page()), page)


class Differences(unittest.TestCase):
    def test_each_row_has_its_command(self):
        with open("docs/known_differences.md", encoding="utf-8") as file:
            rows = [line for line in file.read().partition("\n## ")[0].splitlines() if line.startswith("| ")][2:]
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertRegex(row.rstrip(" |").split(" | ")[-1], r"`(OPENOOD=FOLDER )?(openset|python3) [^`]+`.* prints `")

    def test_commands_of_openset_print_what_the_page_says(self):
        with open("docs/known_differences.md", encoding="utf-8") as file:
            found = re.findall(r"`openset ([^`]+)`[^`|]*? prints `([^`]+)`", file.read())
        self.assertGreater(len(found), 10)
        for words, printed in found:
            with self.subTest(words):
                done = subprocess.run([PROGRAM, *shlex.split(words)], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(printed, done.stdout)


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="openset-conformance-")
        cls.python = os.path.join(cls.folder.name, "bin", "python")
        venv.create(cls.folder.name, with_pip=True)
        subprocess.run([cls.python, "-m", "pip", "install", "--quiet", NUMPY], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_python(self, *words, code=0):
        environment = {**os.environ, "OPENSET": PROGRAM, "OPENSET_MEASURES": LIBRARY, "PYTHONPATH": "tools/python",
                       "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([self.python, *words], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def test_its_script_makes_it(self):
        made = os.path.join(self.folder.name, "v1")
        self.run_python("conformance/make_suite.py", made)
        self.assertEqual(sorted(os.listdir(made)), sorted(os.listdir(V1)))
        for name in os.listdir(V1):
            if name.endswith(".npz"):
                self.assertEqual(contents(os.path.join(V1, name)), contents(os.path.join(made, name)), name)
        old, new = expected(), expected(made)
        for part, cases in (("metrics", "metric_cases"), ("scores", "score_cases")):
            self.assertEqual(old[part], new[part])
            self.assertEqual(old[cases].keys(), new[cases].keys())
            for case, values in old[cases].items():
                self.assertEqual(values.keys(), new[cases][case].keys())
                for name, value in values.items():
                    pairs = zip(value, new[cases][case][name]) if part == "scores" else [(value, new[cases][case][name])]
                    for a, b in pairs:
                        self.assertLessEqual(abs(a - b), old[part][name]["tolerance"] * max(1, abs(a)), (case, name))
        self.assertEqual(old["must_differ"], new["must_differ"])

    def test_openset_follows_each_definition(self):
        about = expected()
        first = {}
        for name, metric in about["metrics"].items():
            first.setdefault(metric["quantity"], name)
        wanted = [f"  {quantity}: {name}" for quantity, name in first.items()]
        wanted += [f"  {score}: equal" for score in about["scores"]]
        for runner in ("openset_command", "openset_module"):
            title, *lines = self.run_python("conformance/run.py", f"conformance/runners/{runner}.py")
            self.assertRegex(title, r"^openset (\d+\.\d+\.\d+|\(Python\) from source)")
            self.assertEqual(sorted(lines), sorted(wanted))

    def test_bugs_of_the_past_are_caught(self):
        title, auroc, *lines = self.run_python("conformance/run.py", "conformance/runners/past_bugs.py", code=1)
        self.assertEqual(title, "bugs of the past 1")
        # The wrong sign: of the 15 cases, only in these two is nothing larger or smaller on average.
        self.assertRegex(auroc, r"^  auroc: none \(auroc but for (\w+, ){12}\w+\)$")
        self.assertNotIn("all_equal", auroc)
        self.assertNotIn("straight_line", auroc)
        self.assertEqual(lines, ["  vim_2: differs", "  vim_5: differs", "  max_logit: differs",
                                 "  a setting without effect: openmax_tail5 equals openmax_tail20",
                                 "  a setting without effect: vim_2 equals vim_5"])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(argv=sys.argv[:2])
