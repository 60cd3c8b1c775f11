#!/usr/bin/env python3
"""Keeps what the program prints and writes for its commands, so that a change of the code can be compared.

    tools/testing/freeze_behaviour.py bazel-bin/tools/openset before
    ... change the code, build ...
    tools/testing/freeze_behaviour.py bazel-bin/tools/openset after
    diff -ru before after

The inputs are made by the first run, next to `before`, and used again (--inputs names another folder). Each command gives one file: the command, its exit code, standard output, standard error, and the names, sizes and
digests of the text files that it wrote. Times, paths, process numbers, versions of the source and digests of sources
are replaced by words. Everything else, numbers included, has to be equal on one machine. The commands run on inputs
that this script makes: arrays, tables, images, a library of specs, a store with a finished study, a damaged copy of it,
and bundles.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from arrays import f64, i64, write_npz

STUDY = """name: "study"
question: "Does the score matter?"
task: "shapes_2_2"
method: ["softmax", "mcp", "ghost"]
split: [0, 1]
seed: [0, 1]
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 16 channels: 3 mean: 0.5 std: 0.25 }
  training { epochs: 2 batch_size: 8 optimizer { learning_rate: 0.02 sgd {} } schedule { constant {} } }
}
metric { accuracy {} } metric { auroc {} } metric { openauc {} } metric { fpr_at_95tpr {} }
"""


def png(path, width, height, pixel):
    """Writes an RGB image; pixel(x, y) gives three bytes."""
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Stream:
    """Numbers that depend on the seed alone (a linear congruential generator)."""

    def __init__(self, seed):
        self.state = seed

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2**53

    def about_normal(self):
        return sum(self.unit() for _ in range(12)) - 6


def outputs(seed, strength, known=60, unknown=40, classes=3):
    """Labels (-1: unknown) and logits."""
    stream = Stream(seed)
    labels = [i % classes for i in range(known)] + [-1] * unknown
    logits = [[stream.about_normal() + (strength if label == k else 0) for k in range(classes)] for label in labels]
    return labels, logits


def write_scores(folder):
    for name, seed, strength in (("a", 1, 3), ("b", 2, 1.5), ("c", 3, 1)):
        labels, logits = outputs(seed, strength)
        flat = [value for row in logits for value in row]
        stream = Stream(seed + 10)
        features = [stream.about_normal() + max(label, 0) for label in labels for _ in range(4)]
        n = len(labels)
        of_all = {"label": i64(labels), "logits": f64(flat, n, 3)}
        write_npz(folder / f"{name}.npz", of_all)
        write_npz(folder / f"{name}_features.npz", {**of_all, "features": f64(features, n, 4)})
        known = [i for i, label in enumerate(labels) if label >= 0]
        write_npz(folder / f"{name}_fit.npz", {
            "label": i64([labels[i] for i in known]),
            "logits": f64([value for i in known for value in logits[i]], len(known), 3),
            "features": f64([value for i in known for value in features[4 * i:4 * i + 4]], len(known), 4)})
        groups = ["" if label >= 0 else ("near_set", "far_set")[i % 2] for i, label in enumerate(labels)]
        lines = ["label,group,logit_0,logit_1,logit_2"]
        lines += [f"{label},{group}," + ",".join(f"{value:.6f}" for value in row)
                  for label, group, row in zip(labels, groups, logits)]
        (folder / f"{name}_groups.csv").write_text("\n".join(lines) + "\n")
        lines = ["label,prediction,unknown_score"]
        lines += [f"{label},{row.index(max(row))},{-max(row):.6f}" for label, row in zip(labels, logits)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    stream = Stream(4)
    lines = ["method,task,split,seed,auroc,accuracy"]
    for method, level in (("ours", 0.8), ("theirs", 0.75), ("third", 0.74)):
        for task in ("t0", "t1", "t2"):
            for split in range(4):
                lines.append(f"{method},{task},{split},0,{level + stream.unit() / 20:.4f},{level + stream.unit() / 9:.4f}")
    (folder / "runs.csv").write_text("\n".join(lines) + "\n")
    bad = {
        "empty.csv": "", "only_header.csv": "label,unknown_score\n", "no_label.csv": "y,unknown_score\n0,1\n",
        "text_score.csv": "label,unknown_score\n0,much\n", "nan.csv": "label,unknown_score\n0,1\n1,nan\n-1,2\n",
        "short_line.csv": "label,unknown_score\n0,1\n1\n", "only_known.csv": "label,prediction,unknown_score\n0,0,1\n1,0,2\n",
        "probabilities.csv": "label,logit_0,logit_1\n0,0.9,0.1\n1,0.2,0.8\n-1,0.5,0.5\n", "page.npz": "<html></html>",
        "semicolons.csv": "label;unknown_score\n0;0,5\n1;0,25\n-1;0,75\n", "names.csv": "label,unknown_score\ncat,1\ndog,2\nunknown,3\n",
    }
    for name, text in bad.items():
        (folder / name).write_text(text)


def write_images(folder):
    colours = {"ant": (200, 30, 30), "bee": (30, 200, 30), "cat": (30, 30, 200), "dog": (200, 200, 30)}
    for number, (name, colour) in enumerate(colours.items()):
        stream = Stream(number)
        for i in range(12):
            shade = [int(min(255, max(0, value + 40 * (stream.unit() - 0.5)))) for value in colour]
            png(folder / "shapes" / name / f"{i:02}.png", 16, 16,
                lambda x, y, shade=shade, i=i: [(value + (x * (i + 1) + y) % 17) % 256 for value in shade])
    broken = folder / "broken" / "ant"
    broken.mkdir(parents=True)
    (broken / "0.png").write_bytes(b"\x89PNG\r\n\x1a\nnot an image")
    shutil.copy(folder / "shapes" / "ant" / "00.png", broken / "1.png")
    (folder / "no_images").mkdir()


def write_specs(folder):
    (folder / "study.textproto").write_text(STUDY)
    (folder / "unrun.textproto").write_text(STUDY.replace('"study"', '"unrun"').replace("epochs: 2", "epochs: 3"))
    variants = {
        "unknown_field": STUDY + "colour: 3\n", "unknown_method": STUDY.replace('"mcp"', '"mpc"'),
        "unknown_task": STUDY.replace("shapes_2_2", "shapes_3_1"), "no_metric": STUDY.split("metric {")[0],
        "negative": STUDY.replace("epochs: 2", "epochs: -2"), "twice": STUDY.replace("seed: [0, 1]", "seed: [1, 1]"),
        "no_split": STUDY.replace("split: [0, 1]", "split: [0, 7]"), "syntax": STUDY + "metric { auroc {}\n",
        "expected": STUDY + "expected_trials: 5\n", "bad_axis": STUDY + 'axis { path: "loss.nothing" value: "1" }\n',
        "axis": STUDY.replace('"study"', '"axis"') + 'axis { path: "training.epochs" value: ["1", "2"] }\n',
    }
    for name, text in variants.items():
        (folder / f"{name}.textproto").write_text(text)
    (folder / "notes.txt").write_text("not a study\n")


def commands():
    """The words of each command. They run in a folder of their own, with copies of the inputs."""
    yield from ([], ["--version"], ["help"], ["halp"], ["--colour"])
    words = ("run plan status cancel report score eval compare threshold figure list show data task records devices explain "
             "export reproduce serve completion").split()
    for word in words:
        yield [word, "--help"]
        if word not in ("status", "devices", "serve", "list"):
            yield [word]
        yield [word, "--no_such_flag"]
    yield from (["completion", "bash"], ["completion", "zsh"], ["completion", "fish"])

    kinds = ("methods", "tasks", "data", "scores", "metrics", "losses", "presets", "specs", "networks", "augmentations", "nothing")
    for kind in kinds:
        yield ["list", kind]
    yield from (["list"], ["list", "methods", "energy"], ["list", "--format=json"],
                ["list", "--names"], ["list", "methods", "--names"], ["list", "words", "--names"], ["list", "words", "run"],
                ["list", "words", "nothing"])
    for kind, name in (("method", "softmax"), ("method", "openauc"), ("method", "sofmax"), ("task", "shapes_2_2"),
                       ("task", "fashion_mnist_6_4"), ("score", "vim"), ("score", "MSP"), ("metric", "auroc"), ("metric", "fpr95"),
                       ("loss", "open_auc"), ("preset", "laptop"), ("nothing", "x"), ("data", "shapes")):
        yield ["show", kind, name]

    for file in ("a.npz", "b.npz", "a.csv", "a_groups.csv", "semicolons.csv", "names.csv", "only_known.csv", "empty.csv", "only_header.csv",
                 "no_label.csv", "text_score.csv", "nan.csv", "short_line.csv", "probabilities.csv", "page.npz", "nowhere.npz", "shapes"):
        yield ["eval", file]
    for form in ("text", "markdown", "latex", "csv", "json", "html", "colour"):
        yield ["eval", "a.npz", f"--format={form}", "--metrics=accuracy,auroc,aurc,openauc,fpr_at_95tpr"]
        yield ["eval", "a_groups.csv", f"--format={form}", "--near=near_set", "--far=far_set"]
        yield ["eval", "a.npz", "b.npz", "c.npz", "--as=methods", f"--format={form}"]
        yield ["compare", "a.npz", "b.npz", f"--format={form}", "--metrics=auroc,accuracy", "--replicates=200"]
        yield ["compare", "runs.csv", f"--format={form}"]
        yield ["threshold", "a.npz", "b.npz", f"--format={form}"]
        yield ["report", "study.textproto", f"--format={form}"]
        yield ["plan", "unrun.textproto", f"--format={form}"]
        yield ["status", "study.textproto", f"--format={form}"]
        yield ["records", "ls", f"--format={form}"]
    for score in ("max_logit", "energy", "entropy", "odin", "gen", "margin", "MSP", "nothing", "energy { temperature: 2 }", "energy {"):
        yield ["eval", "a.npz", f"--score={score}", "--metrics=auroc"]
    for score in ("vim", "knn", "mahalanobis", "openmax", "she", "react", "klm", "nnguide { k: 5 share: 1 }"):
        yield ["eval", "a_features.npz", f"--score={score}", "--fit=a_fit.npz", "--metrics=auroc"]
        yield ["eval", "a_features.npz", f"--score={score}", "--metrics=auroc"]
    for convention in ("openood", "odin", "oe", "udb", "arpl", "fd_shifts", "torch_uncertainty", "released", "nothing"):
        yield ["eval", "a.npz", f"--convention={convention}"]
    yield from (["eval", "a.npz", "--ci", "--replicates=200"], ["eval", "a.npz", "--ci", "--ci_method=delong", "--metrics=auroc"],
                ["eval", "a.npz", "--ci", "--ci_method=nothing"], ["eval", "a.npz", "--curves=curves"], ["eval", "a.npz", "--classes=classes.csv"],
                ["eval", "a.npz", "--sample_scores=scores.npz"], ["eval", "a.npz", "--out=table.txt"], ["eval", "a.npz", "--higher_is_known"],
                ["eval", "a.npz", "--metrics=nothing"], ["eval", "a.npz", "--metrics=ccr_at_fpr { fpr: 0.1 }"], ["eval", "a.npz", "--metrics=auroc {"],
                ["eval", "a.npz", "--skip=x"], ["eval", "a_groups.csv", "--near=nothing"], ["eval", "a.csv", "--higher_is_known"],
                ["eval", "a.npz", "a.csv"], ["eval", "a.npz", "b.npz", "--as=methods", "--rows=method", "--curves=curves"])
    yield from (["compare", "a.npz"], ["compare", "a.npz", "a.npz"], ["compare", "a.npz", "b.npz", "c.npz", "--replicates=200"],
                ["compare", "a.npz", "empty.csv"], ["compare", "runs.csv", "--baseline=theirs"], ["compare", "runs.csv", "--baseline=x"],
                ["compare", "runs.csv", "--diagram=ranks.svg"], ["compare", "runs.csv", "--metrics=nothing"], ["compare", "study.textproto"],
                ["compare", "study.textproto", "--all_pairs"], ["compare", "bundle.zip"])
    for rule in ("known_accepted", "conformal", "unknown_rejected", "risk", "risk_guaranteed", "nacc_rates", "open_set_accuracy",
                 "open_set_f_macro", "youden_micro", "nothing"):
        yield ["threshold", "a.npz", "b.npz", f"--rule={rule}", "--target=0.8"]
    yield from (["threshold", "a.npz"], ["threshold", "a.npz", "b.npz", "--confusion=c.csv"], ["threshold", "a.npz", "b.npz", "--target=2"])

    for spec in ("unknown_field", "unknown_method", "unknown_task", "no_metric", "negative", "twice", "no_split", "syntax", "expected",
                 "bad_axis", "axis", "nowhere"):
        yield ["plan", f"{spec}.textproto"]
    yield from (["plan", "notes.txt"], ["run", "notes.txt"], ["plan", "study.textproto"], ["plan", "unrun.textproto", "--set=training.epochs=9"],
                ["plan", "unrun.textproto", "--until=auroc: 1.0"], ["plan", "unrun.textproto", "--until=aurok: 1"],
                ["plan", "unrun.textproto", "--until=auroc"], ["plan", "study.textproto", "--power=auroc: 1.0"],
                ["plan", "study.textproto", "--power=auroc: 1.0", "--format=json"], ["plan", "study.textproto", "--power=auroc"],
                ["plan", "unrun.textproto", "--set=training.epoch=9"], ["plan", "unrun.textproto", "--methods=mcp"],
                ["plan", "unrun.textproto", "--methods=nothing"], ["plan", "unrun.textproto", "--seeds=0..4"], ["plan", "unrun.textproto", "--seeds=x"],
                ["plan", "unrun.textproto", "--max_trials=2"], ["plan", "study.textproto", "--redo=changed"], ["plan", "study.textproto", "--store=damaged"],
                ["run", "study.textproto"], ["run", "study.textproto", "--jobs=-1"], ["run", "study.textproto", "--devices=cuda:9"],
                ["run", "study.textproto", "--engine=nothing"], ["run", "study.textproto", "--only=failed"], ["run", "unrun.textproto", "--worker=/bin/false", "--retries=0"],
                ["run", "study.textproto", "--store=shapes"], ["status"], ["status", "--store=damaged"], ["status", "unrun.textproto"],
                ["status", "--store=nowhere"], ["cancel", "study.textproto"])
    yield from (["report", "study.textproto", "--rows=metric", "--columns=method"], ["report", "study.textproto", "--rows=nothing"],
                ["report", "study.textproto", "--digits=1", "--sort=auroc"], ["report", "study.textproto", "--format=csv", "--tidy"],
                ["report", "study.textproto", "--spread=se"], ["report", "study.textproto", "--out=page.html", "--format=html"],
                ["report", "method=mcp"], ["report", "method=nothing"], ["report", "bundle.zip"], ["report", "study.textproto", "--store=damaged"],
                ["report", "study.textproto", "--format=tensorboard", "--out=events"])
    yield from (["figure", "study.textproto", "--curve=loss", "--out=loss.svg"], ["figure", "study.textproto", "--curve=oscr", "--out=oscr.svg"],
                ["figure", "study.textproto", "--curve=nothing"], ["figure", "study.textproto", "--x=training.epochs", "--y=auroc"],
                ["figure", "study.textproto", "--improvement=auroc", "--out=bars.svg"], ["figure", "openauc_figure_1", "--folder=figures"],
                ["figure", "nothing"])
    yield from (["records", "ls", "--sort=-auroc"], ["records", "ls", "method=mcp and split=0"], ["records", "ls", "auroc>0"], ["records", "ls", "colour=red"],
                ["records", "ls", "method="], ["records", "ls", "bundle.zip"], ["records", "ls", "--store=nowhere"], ["records", "ls", "--store=damaged"],
                ["records", "show", "TRIAL"], ["records", "show", "TRIAL", "--brief"], ["records", "show", "TRIAL", "--format=json"],
                ["records", "show", "zzzz"], ["records", "show", "12"], ["records", "spec", "TRIAL"], ["records", "spec", "bundle.zip", "TRIAL"],
                ["records", "verify"], ["records", "verify", "--store=damaged", "--dry_run"], ["records", "verify", "--store=damaged"],
                ["records", "verify", "bundle.zip"], ["records", "verify", "cut.zip"], ["records", "export", "--bundle=new.zip"],
                ["records", "export", "method=mcp", "--bundle=new.zip", "--with=outputs,checkpoints"], ["records", "export", "method=nothing", "--bundle=new.zip"],
                ["records", "export", "--with=nothing", "--bundle=new.zip"], ["records", "merge", "bundle.zip"], ["records", "merge", "bundle.zip", "--store=new"],
                ["records", "merge", "cut.zip", "--store=new"], ["records", "merge", "nowhere"], ["records", "rm", "method=mcp", "--dry_run"],
                ["records", "rm", " "], ["records", "rm", "method=nothing"], ["records", "gc", "--dry_run"], ["records", "gc", "--older_than=0"],
                ["records", "gc", "--older_than=-1"], ["records", "gc", "--max_size=1XB"], ["records", "board", "site"], ["records", "board", "site", "bundle.zip", "openset-store"],
                ["records", "board"], ["records", "board", "bundle.zip"], ["records", "board", "site", "cut.zip"], ["records", "nothing"])
    yield from (["explain", "TRIAL"], ["explain", "TRIAL", "study.textproto"], ["explain", "TRIAL", "unrun.textproto"], ["explain", "zzzz"],
                ["explain", "bundle.zip", "TRIAL"], ["export", "outputs", "TRIAL", "copy"], ["export", "outputs", "zzzz", "copy"],
                ["reproduce", "TRIAL"], ["reproduce", "zzzz"], ["reproduce", "cut.zip"])
    yield from (["data", "list"], ["data", "verify", "shapes"], ["data", "verify", "nothing"], ["data", "describe", "shapes"],
                ["data", "describe", "shapes", "--images"], ["data", "describe", "broken", "--images"], ["data", "describe", "no_images"],
                ["data", "describe", "nowhere"], ["data", "show", "shapes", "--out=page.html"], ["data", "audit", "shapes"], ["data", "fetch", "nothing"])
    yield from (["task", "splits", "shapes_2_2"], ["task", "splits", "fashion_mnist_6_4"], ["task", "splits", "nothing"],
                ["task", "new", "t", "--data=shapes", "--known=ant,bee", "--splits=1"], ["task", "new", "t", "--data=shapes", "--known=3", "--splits=2"],
                ["task", "new", "t", "--data=shapes", "--known=ant,eel", "--splits=1"], ["task", "new", "t", "--data=nothing", "--known=2"],
                ["task", "new", "shapes_2_2", "--data=shapes", "--known=2", "--splits=1"])
    yield from (["score", "--model=nowhere.pt", "--task=shapes_2_2"], ["score", "--model=notes.txt", "--task=shapes_2_2"],
                ["score", "--model=a.npz", "--network=resnet20_cifar", "--task=shapes_2_2"], ["score", "--task=shapes_2_2"])


class Normaliser:
    """Takes out of a text what differs between two runs of one program, and between two builds of one source."""

    def __init__(self, paths):
        self.paths = sorted(paths.items(), key=lambda pair: -len(pair[0]))

    def __call__(self, text):
        for path, word in self.paths:
            text = text.replace(path, word)
        rules = (
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?", "DATE"),
            (r"\b\d+(\.\d+)? ?(ms|s|min|h|CPU s|hours?|minutes?|seconds?)\b", "TIME"),
            (r"\b(commit|source|program|built from|sources_sha256|changes_sha256|program_sha256)(\W+)[0-9a-f]{7,64}\b", r"\1\2DIGEST"),
            (r"\bpid \d+|\.\d+\.\d+\.tmp|tmp\.[\w.-]+", "PROCESS"),
            (r"\b\d+(\.\d+)? (kB|MB|GB|B)\b", "SIZE"),
            (r"TIME, \d+ images/s", "TIME"),
            (r"\d+ images a second together, \d+ with", "RATES with"),
            (r"[\d.e-]+ CPU hours", "TIME"),
            (r"(\w*(hours|seconds|images_per_second|memory_bytes)\w*\W+)\d[\d.e+-]*", r"\1NUMBER"),
        )
        for pattern, word in rules:
            text = re.sub(pattern, word, text)
        return text


def in_any_order(text):
    """Sorts the lines of actions, which end in any order."""
    lines = [re.sub(r"^\[ *\d+/", "[N/", line) for line in text.split("\n")]
    actions = iter(sorted(line for line in lines if line.startswith("[N/")))
    return "\n".join(next(actions) if line.startswith("[N/") else line for line in lines)


def tree(folder):
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns
            for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


def run(program, words, folder, home):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8", "USER": "user",
                   "OPENSET_DATA": os.environ.get("OPENSET_DATA", "")}
    return subprocess.run([program] + words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=600, check=False)


def make_inputs(program, base):
    base.mkdir(parents=True)
    write_scores(base)
    write_images(base)
    write_specs(base)

    def prepare(*words):
        with tempfile.TemporaryDirectory() as home:
            done = run(program, list(words), base, home)
        if done.returncode:
            shutil.rmtree(base)
            sys.exit(f"openset {' '.join(words)}: {done.stderr.decode()}")

    prepare("data", "describe", str(base / "shapes"), "--name=shapes", "--into=.")
    prepare("task", "new", "shapes_2_2", "--data=shapes", "--known=ant,bee", "--unknown=cat,dog", "--splits=2", "--seed=1")
    prepare("run", "study.textproto", "--jobs=2")
    prepare("records", "export", "--bundle=bundle.zip")
    whole = (base / "bundle.zip").read_bytes()
    (base / "cut.zip").write_bytes(whole[:len(whole) // 2])
    shutil.copytree(base / "openset-store", base / "damaged")
    records = sorted((base / "damaged" / "records").rglob("*.rec"))
    damaged = bytearray(records[0].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    records[0].write_bytes(damaged)
    sorted((base / "damaged" / "outputs").rglob("outputs.npz"))[0].unlink()
    (base / "damaged" / "records" / "stranger.txt").write_text("?\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built openset, with its worker next to it")
    parser.add_argument("out", help="the folder for the results; it must not exist")
    parser.add_argument("--inputs", help="the folder of the inputs; default: `inputs` next to the results")
    parser.add_argument("--only", default="", help="only commands that contain this text")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    program, out = os.path.abspath(arguments.program), pathlib.Path(arguments.out)
    out.mkdir(parents=True)
    base = pathlib.Path(arguments.inputs or out.parent / "inputs").resolve()
    if not base.exists():
        make_inputs(program, base)
    trial = sorted((base / "openset-store" / "records").rglob("*.rec"))[0].stem
    with tempfile.TemporaryDirectory() as temporary:
        def keep(numbered):
            number, words = numbered
            line = "openset " + " ".join(f"'{word}'" if re.search(r"[\s{}]", word) else word for word in words)
            if arguments.only not in line:
                return False
            folder = pathlib.Path(temporary) / f"work{number}" / "inputs"
            shutil.copytree(base, folder, symlinks=True)
            own_home = folder.parent / "home"
            own_home.mkdir()
            normalise = Normaliser({str(folder): "FOLDER", str(base): "FOLDER", str(own_home): "HOME",
                                    os.path.dirname(program): "PROGRAM", os.path.dirname(os.path.realpath(program)): "PROGRAM"})
            before = tree(folder)
            done = run(program, [trial if word == "TRIAL" else word for word in words], folder, own_home)
            parts = [line, f"exit code {done.returncode}"]
            for title, content in (("standard output", done.stdout), ("standard error", done.stderr)):
                if content:
                    parts.append(f"--- {title}\n{in_any_order(normalise(content.decode(errors='replace')))}")
            after = tree(folder)
            for name in sorted(set(before) | set(after)):
                if before.get(name) == after.get(name):
                    continue
                if name not in after:
                    parts.append(f"removed {name}")
                    continue
                content = (folder / name).read_bytes()
                digest = ""  # of text whose times Normaliser knows
                if not name.endswith((".log", "record.textproto", "/spec")) and b"\0" not in content:
                    digest = hashlib.sha256(normalise(content.decode(errors="replace")).encode()).hexdigest()[:16]
                parts.append(f"wrote {normalise(name)} {digest}".rstrip())
            shutil.rmtree(folder.parent)
            label = re.sub(r"[^\w.=-]+", "_", " ".join(words))[:80].strip("_") or "nothing"
            (out / f"{number:03}_{label}.txt").write_text("\n".join(parts) + "\n")
            return True

        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            kept = sum(pool.map(keep, enumerate(commands())))
    print(json.dumps({"commands": kept, "folder": str(out)}))


if __name__ == "__main__":
    main()
