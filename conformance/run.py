"""Runs libraries on the suite, and exits with 1 if something differs.

A runner is a file with NAME, VERSION, and one or both of
    metrics(d) -> {quantity: value}
        d: unknown_score, label and prediction of a case; quantities as in expected.json
    scores(d) -> {score id: function that returns an array}
        d: logits, features, head_weight, head_bias and train_*; larger = more unknown. The case extra_output has only
        logits, whose last column is for the unknown, and num_classes
What a runner leaves out is not checked. For each quantity it is found which definition the values follow in every case;
"none" is a definition of the library's own, or a bug.
"""
import argparse
import contextlib
import importlib.util
import json
import os
import sys
import warnings

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "v1")
warnings.simplefilter("ignore")


def load(path):
    if not path.endswith(".py") or not os.path.isfile(path):
        raise OSError("there is no such runner; the folder runners/ has some")
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arrays(name):
    with np.load(os.path.join(HERE, name + ".npz")) as file:
        return {key: file[key] for key in file.files}


def close(a, b, tolerance):
    return a is not None and np.all(np.abs(np.asarray(a, float) - b) <= tolerance * np.maximum(1, np.abs(b)))


def check_metrics(runner, expected):
    """{quantity: (the ids that all answers follow, {case: why not} of the id that most follow)}"""
    values, refused = {}, {}
    for case in expected["metric_cases"]:
        try:
            for quantity, value in runner.metrics(arrays(case)).items():
                values.setdefault(quantity, {})[case] = value
        except Exception as error:  # whatever a library throws
            refused[case] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:100]
    found = {}
    for quantity, answers in values.items():
        wrong = {}
        for name, about in expected["metrics"].items():
            if about["quantity"] == quantity:
                tolerance = max(about["tolerance"], getattr(runner, "TOLERANCE", 0))
                wrong[name] = [
                    case for case, value in answers.items()
                    if name in expected["metric_cases"][case] and not close(value, expected["metric_cases"][case][name], tolerance)
                ]
        right = [name for name, cases in wrong.items() if not cases]
        nearest = min(wrong, key=lambda name: len(wrong[name]))
        found[quantity] = (right, nearest, wrong[nearest])
    return found, refused


def check_scores(runner, expected):
    """{score id: "equal", "same order", "differs" or an error}, and the pairs whose setting has no effect."""
    found, unused = {}, []
    for case, values in expected["score_cases"].items():
        answers = {}
        d = arrays(case)
        without_values = [name for pair in expected["must_differ"] for name in pair] if "train_logits" in d else []
        for name, of in runner.scores(d).items():
            if name not in values and name not in without_values:
                continue
            try:
                answers[name] = np.asarray(of(), float).ravel()
            except Exception as error:  # whatever a library throws
                found[name] = f"{type(error).__name__}: {error}"[:100]
        for name, answer in answers.items():
            if name not in values:
                continue
            wanted = np.array(values[name])
            tolerance = max(expected["scores"][name]["tolerance"], getattr(runner, "TOLERANCE", 0))
            same = close(answer, wanted, tolerance)
            steps = np.diff(answer[np.argsort(wanted)])
            verdict = "equal" if same else "same order" if np.all(steps >= -1e-5 *
                                                                  np.abs(answer).max()) else "differs"
            found[name] = verdict if found.get(name, "equal") == "equal" else found[name]
        unused += [
            pair for pair in map(tuple, expected["must_differ"]) if pair[0] in answers and pair[1] in answers and
            pair not in unused and np.allclose(answers[pair[0]], answers[pair[1]])
        ]
    return found, unused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner", nargs="+", help="runners/scikit_learn.py, ...")
    parser.add_argument("--table", action="store_true", help="also print the results as a Markdown table")
    arguments = parser.parse_args()
    with open(os.path.join(HERE, "expected.json")) as file:
        expected = json.load(file)
    ok, rows = True, []
    for path in arguments.runner:
        with contextlib.redirect_stdout(sys.stderr):  # what libraries print
            try:
                runner = load(path)
            except (ImportError, OSError) as error:
                sys.exit(f"{path}: {error}")
            except KeyError as error:
                sys.exit(f"{path}: set the environment variable {error.args[0]} (see the first line of the file)")
            metrics = check_metrics(runner, expected) if hasattr(runner, "metrics") else ({}, {})
            scores = check_scores(runner, expected) if hasattr(runner, "scores") else ({}, [])
        print(f"{runner.NAME} {runner.VERSION}")
        lines = []
        for quantity, (right, nearest, cases) in metrics[0].items():
            lines.append((quantity, " = ".join(right) if right else f"none ({nearest} but for {', '.join(cases)})"))
            ok &= bool(right)
        lines += [("refuses", f"{case} ({why})") for case, why in metrics[1].items()]
        lines += scores[0].items()
        lines += [("a setting without effect", f"{pair[0]} equals {pair[1]}") for pair in scores[1]]
        ok &= not scores[1] and "differs" not in scores[0].values()
        for what, text in lines:
            print(f"  {what}: {text}")
            rows.append((runner, what, text))
    if arguments.table:
        print(table(rows))
    return 0 if ok else 1


def table(rows):
    names = list(dict.fromkeys(f"{runner.NAME} {runner.VERSION}" for runner, *_ in rows))
    cells = {}
    for runner, what, text in rows:
        cells.setdefault(what, {}).setdefault(f"{runner.NAME} {runner.VERSION}", []).append(text)
    lines = ["| | " + " | ".join(names) + " |", "| --- " * (len(names) + 1) + "|"]
    for what, of in cells.items():
        lines.append(f"| {what} | " + " | ".join("<br>".join(of.get(name, [""])) for name in names) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
