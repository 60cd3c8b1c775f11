#!/usr/bin/env python3
"""Writes BENCHMARKS.md: how fast openset is on this machine, compared with the Python libraries that do the same.

    bazel run //tools:benchmarks -- --python=VENV/bin/python [--quick] [--only=evaluation,planning] [--out=FILE]

Both sides of a ratio run alternately in one run of this script. Each figure is the median of several rounds, with the
smallest and the largest; a ratio is the median of the rounds' ratios. --python is an interpreter with torch 2.11,
torchvision, numpy, scikit-learn and pytorch-ood; without it, only this project is measured. --quick takes fewer rounds
and smaller sizes. Nothing else should run meanwhile; the machine's load before each part is printed.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from benchmark_tools import Table, exponent, ratio_shown, run, shown

# The scores that both pytorch-ood and openset have (tools/peers/small_trial_peer.py).
SHARED_SCORES = ("mcp,max_logit,energy_score,entropy,gen,klm,mahalanobis,relative_mahalanobis,vim,knn,she,nci,fdbd,nnguide,"
                 "react,dice,ash,scale,pnml,gmm")
PEER_VERSIONS = ("import importlib.metadata as m\n"
                 "for name in ('torch', 'torchvision', 'numpy', 'scikit-learn', 'pytorch-ood'):\n"
                 "    try: print(name, m.version(name))\n"
                 "    except m.PackageNotFoundError: pass")


class Benchmarks:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.rounds = 2 if options.quick else 5
        self.missed = []  # (what, command) of missed targets
        self.data = os.path.join(os.path.dirname(os.path.realpath(options.fashion_mnist)))

    def peer(self, script, *arguments):
        return [self.options.python, os.path.join("tools/peers", script), *arguments]

    def google(self, binary, name_filter, *more):
        """{name: benchmark} of a Google Benchmark."""
        _, _, text = run([binary, "--benchmark_format=json", "--benchmark_filter=" + name_filter, *more])
        return {one["name"]: one for one in json.loads(text)["benchmarks"]}

    def aim(self, what, reached, wanted, command, at_least=True):
        """The cell of a target; adds a profile of `command` if the target is missed."""
        met = reached >= wanted if at_least else reached <= wanted
        if not met:
            self.missed.append((what, command))
        return f"{'≥' if at_least else '≤'} {wanted:g}: {'met' if met else 'missed'}"

    # Each part returns its text.

    def steps(self):
        return self.steps_in("fp32", {"osrci_cnn": 1.3, "resnet20": 1.3, "vgg32": 1.2})

    def bf16_steps(self):
        if "avx512_bf16" not in cpu_flags():
            return "This CPU has no instructions for BF16."
        amx = 1.3 if "amx_bf16" in cpu_flags() else 1.2
        return self.steps_in("bf16", {"osrci_cnn": amx, "resnet20": amx, "vgg32": amx})

    def steps_in(self, precision, aims):
        suffix = "" if precision == "fp32" else "_" + precision
        table = Table("network", "openset", "PyTorch", "channels-last", "torch.compile", "limit", "openset / best",
                      "openset / limit", "target")
        command = self.peer("train_step_peer.py", "--json", "--step_benchmark=" + self.options.step_benchmark,
                            f"--rounds={self.rounds}", "--precision=" + precision)
        if self.options.quick:
            command += ["--layouts=eager,channels_last", "--networks=osrci_cnn"]
        if not self.options.python:
            for name in aims:
                found = self.google(self.options.step_benchmark, f"^TrainStep/{name}{suffix}/threads:2/",
                                    f"--benchmark_repetitions={self.rounds}")
                rates = [one["images_per_second"] for one in found.values() if one.get("run_type") != "aggregate"]
                table.add(name, shown(rates, "images/s"), "", "", "", "", "", "", "")
            return table.text()
        for name, rates in json.loads(run(command)[2]).items():
            ours, limit = rates.pop("openset"), rates.pop("limit")
            ratios = [own / max(best) for own, best in zip(ours, zip(*rates.values()))]
            cells = [shown(rates[side], "") if side in rates else ""
                     for side in ("PyTorch eager", "PyTorch channels_last", "PyTorch compile")]
            one = [self.options.step_benchmark, f"--benchmark_filter=^TrainStep/{name}{suffix}/threads:2/"]
            table.add(name, shown(ours, ""), *cells, shown(limit, ""), ratio_shown(ratios),
                      f"{statistics.median(a / b for a, b in zip(ours, limit)):.0%}",
                      self.aim(f"a training step of {name}, {precision}", statistics.median(ratios), aims[name], one))
        return (f"Images a second, batches of 128 images of 32 x 32, 2 threads, {precision}. openset runs steps of its "
                "trainer, which makes batches at the same time; PyTorch runs steps on a ready batch. The limit is a step "
                "that takes only as long as large convolutions (3 x 3, 128 channels, forward) with as many floating-point "
                "operations as the step's own convolutions and products.\n\n" + table.text())

    def augmentation(self):
        table = Table("osrci_cnn", "images/s", "openset / other")
        if not self.options.python:
            found = self.google(self.options.step_benchmark, "^TrainStep/osrci_cnn_rand_augment/threads:2/")
            table.add("openset", shown([one["images_per_second"] for one in found.values()], ""), "")
            return table.text()
        rates = json.loads(run(self.peer(
            "train_step_peer.py", "--json", "--augmented", "--networks=osrci_cnn", f"--rounds={self.rounds}",
            "--step_benchmark=" + self.options.step_benchmark))[2])["osrci_cnn"]
        for side, values in rates.items():
            table.add(side, shown(values, ""),
                      "" if side == "openset" else ratio_shown([a / b for a, b in zip(rates["openset"], values)]))
        return ("Training with RandAugment (1 operation), random crop and flip. PyTorch uses Pillow in a DataLoader "
                "with 0 and 2 worker processes.\n\n" + table.text())

    def sweep(self):
        trials, steps = (4, 30) if self.options.quick else (16, 60)
        seeds = ", ".join(map(str, range(trials)))
        spec = os.path.join(self.folder, "sweep.textproto")
        with open(spec, "w") as file:
            file.write(f"""name: "sweep" task: "fashion_mnist_6_4" split: 0 method: "ce_plus" seed: [{seeds}]
                override {{
                  model {{ osrci_cnn {{ dropout: 0.1 }} head {{ linear {{ bias: true }} }} }}
                  input {{ size: 28 channels: 1 mean: 0.2860 std: 0.3530 }}
                  augmentation {{ resize {{}} }}
                  training {{ epochs: 1 max_steps: {steps} batch_size: 128
                    optimizer {{ learning_rate: 0.05 weight_decay: 1e-4 sgd {{ momentum: 0.9 nesterov: true }} }}
                    schedule {{ constant {{}} }} }}
                }}
                metric {{ accuracy {{}} }} metric {{ auroc {{}} }} expected_trials: {trials}""")
        ours, theirs = [], []
        for number in range(1 if self.options.quick else 2):
            store = os.path.join(self.folder, f"sweep_store_{number}")
            ours.append(run([self.options.openset, "run", spec, "--store=" + store, "--devices=cpu"])[0])
            shutil.rmtree(store)
            if not self.options.python:
                continue
            begin = time.perf_counter()
            waiting, running = list(range(trials)), []
            while waiting or running:  # two at a time, with one thread each: faster than all at once
                while waiting and len(running) < 2:
                    running.append(subprocess.Popen(
                        self.peer("small_trial_peer.py", "trial", self.data, f"--seed={waiting.pop(0)}",
                                  f"--steps={steps}"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
                running = [process for process in running if process.poll() is None]
                time.sleep(0.01)
            theirs.append(time.perf_counter() - begin)
        table = Table(f"{trials} trials", "seconds", "other / openset", "target")
        table.add("openset run", shown(ours, "s"), "", "")
        if theirs:
            ratios = [b / a for a, b in zip(ours, theirs)]
            table.add(f"{trials} Python processes, 2 at a time", shown(theirs, "s"), ratio_shown(ratios),
                      self.aim("the sweep", statistics.median(ratios), 6, None))
        return (f"{trials} trials of osrci_cnn on Fashion-MNIST, each with {steps} steps of 128 images, inference on "
                "10,000 test images, evaluation and record; whole processes.\n\n" + table.text())

    def scores(self):
        if not self.options.python:
            return "Not measured: needs --python."
        network = os.path.join(self.folder, "net.pt")
        run(self.peer("small_trial_peer.py", "trial", self.data, "--save=" + network))
        ask = [self.options.openset, "score", "--model=" + network, "--head=head", "--task=fashion_mnist_6_4", "--split=0",
               "--size=28", "--channels=1", "--mean=0.286", "--std=0.353", "--devices=cpu"]
        shared, one, theirs, parts = [], [], [], []
        for number in range(2 if self.options.quick else 3):
            store = os.path.join(self.folder, f"score_store_{number}")
            shared.append(run(ask + ["--methods=" + SHARED_SCORES, "--store=" + store])[0])
            one.append(run(ask + ["--methods=she", "--store=" + store + "_she"])[0])
            seconds, _, text = run(self.peer("small_trial_peer.py", "scores", self.data, network, "--threads=2"))
            theirs.append(seconds)
            parts.append(json.loads(text))
        every, _, text = run(ask + ["--store=" + os.path.join(self.folder, "score_store_all")])
        count = len(re.findall(r"^\S+ +\d+\.\d\d +\d+\.\d\d ", text, re.MULTILINE))
        ratios = [b / a for a, b in zip(shared, theirs)]
        table = Table("what", "seconds", "pytorch-ood / openset", "target")
        names = len(SHARED_SCORES.split(","))
        profiled = ask + ["--methods=" + SHARED_SCORES, "--store=" + os.path.join(self.folder, "score_store_profiled")]
        table.add(f"openset score, {names} methods", shown(shared, "s"), "", "")
        table.add("openset score, only she: the network's outputs, start and report", shown(one, "s"), "", "")
        table.add(f"pytorch-ood, the same {names}", shown(theirs, "s"), ratio_shown(ratios),
                  self.aim("the scores", statistics.median(ratios), 8, profiled))
        table.add("of which the network's outputs", shown([part["seconds"]["outputs"] for part in parts], "s"), "", "")
        table.add("of which the scores", shown([sum(part["seconds"].values()) - part["seconds"]["outputs"]
                                              for part in parts], "s"), "", "")
        table.add(f"openset score, all {count} methods", shown([every], "s"), "", "")
        slow = sorted(parts[-1]["seconds"].items(), key=lambda pair: -pair[1])[:4]
        return ("A TorchScript network on Fashion-MNIST: outputs of 36,000 training and 10,000 test images, then fits "
                "and scores; whole processes. openset also stores the outputs, a record of each method, and a "
                "report.\n\n" + table.text() + "\n\nSlowest parts of pytorch-ood: "
                + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in slow) + ".")

    def make_scores(self, samples):
        """A file of ready scores, made by a process that only needs Python."""
        path = os.path.join(self.folder, f"scores_{samples}.npz")
        if not os.path.exists(path):
            run([sys.executable, "tools/peers/make_score_file.py", path, str(samples)])
        return path

    def evaluation(self):
        sizes = [10**4, 10**5, 10**6] if self.options.quick else [10**5, 10**6, 10**7]
        table = Table("samples", "seconds", "peak memory", "target")
        medians = []
        for samples in sizes:
            path = self.make_scores(samples)
            command = [self.options.openset, "eval", path, "--format=json"]
            runs = [run(command) for _ in range(2 * self.rounds if samples < 10**7 else 3)]
            medians.append(statistics.median([one[0] for one in runs]))
            table.add(f"{samples:,}", shown([one[0] for one in runs], "s"), f"{max(one[1] for one in runs):.0f} MB",
                      self.aim("eval of 1,000,000 scores", medians[-1], 0.15, command, at_least=False)
                      if samples == 10**6 else "")
        text = ("All metrics of finished scores with predictions, 100 classes; the whole process, including its start "
                "and reading the .npz.\n\n" + table.text()
                + f"\n\nGrowth exponent over a factor of {sizes[-1] // sizes[0]} in samples: "
                + f"{exponent(sizes, medians):.2f}.")
        logits = os.path.join(self.folder, "logits.npz")
        run([sys.executable, "tools/peers/make_score_file.py", logits, "10000", "100"])
        command = [self.options.openset, "eval", logits, "--format=json"]
        seconds = [run(command)[0] for _ in range(2 * self.rounds)]
        wanted = self.aim("eval of logits", 1000 * statistics.median(seconds), 30, command, at_least=False)
        text += f"\n\n10,000 x 100 logits take {shown([1000 * s for s in seconds], 'ms')} (target in ms {wanted})."
        if self.options.python:
            _, _, said = run(self.peer("eval_peer.py", "--openset=" + self.options.openset,
                                       f"--rounds={self.rounds}", f"--samples={sizes[1] if self.options.quick else 10**6}"))
            text += "\n\n" + "  \n".join(said.strip().splitlines()[-3:])
        return text

    def bootstrap(self):
        table = Table("10,000 replicates of four metrics, 33,640 samples", "seconds")
        for name, one in self.google(self.options.bootstrap_benchmark,
                                     "threads:[12]/known:4000/pooled:0/bca:0" if not self.options.quick
                                     else "threads:2/known:4000/pooled:0/bca:0").items():
            table.add(re.search("threads:[0-9]+", name)[0].replace(":", ": "), f"{one['real_time']:.2f} s")
        return table.text()

    def loading(self):
        if not self.options.python:
            return "Not measured: needs --python."
        folder = os.path.join(self.folder, "images")
        images = 300 if self.options.quick else 1000
        run([self.options.python, "-c", f"""
import os, numpy as np
from PIL import Image
random = np.random.default_rng(0)
for i in range({images}):
    os.makedirs(os.path.join({folder!r}, str(i % 4)), exist_ok=True)
    small = random.integers(0, 256, (24, 32, 3), dtype=np.uint8)
    Image.fromarray(small).resize((500, 375), Image.Resampling.BICUBIC).save(
        os.path.join({folder!r}, str(i % 4), str(i) + ".jpg"), quality=90)"""])
        _, _, text = run(self.peer("image_folder_peer.py", folder, "--image_folder=" + self.options.image_folder,
                                   f"--rounds={self.rounds}"))
        return (f"{images} JPEG files of 500 x 375 pixels, read into batches of 64 x 3 x 224 x 224, 2 threads; "
                "torchvision with 2 worker processes.\n\n" + text.strip().splitlines()[-1])

    def planning(self):
        sizes = [1000, 10000] if self.options.quick else [1000, 10000, 102000]
        table = Table("trials", "as text", "as JSON", "peak memory, text", "peak memory, JSON", "JSON")
        seconds = []
        for trials in sizes:
            spec = os.path.join(self.folder, f"plan_{trials}.textproto")
            seeds = ", ".join(map(str, range(trials // 10)))
            with open(spec, "w") as file:
                file.write(f"""name: "plan" task: "fashion_mnist_6_4" split: [0, 1, 2, 3, 4] method: ["softmax", "openauc"]
                    seed: [{seeds}] metric {{ auroc {{}} }}""")
            command = [self.options.openset, "plan", spec, "--noprobe", "--devices=cpu",
                       "--store=" + os.path.join(self.folder, "no_store")]
            text = [run(command + ["--format=text"]) for _ in range(2 if self.options.quick else 3)]
            of_json = [run(command + ["--format=json"]) for _ in range(2 if self.options.quick else 3)]
            seconds.append(statistics.median([one[0] for one in text]))
            table.add(f"{trials:,}", shown([one[0] for one in text], "s"), shown([one[0] for one in of_json], "s"),
                      f"{max(one[1] for one in text):.0f} MB", f"{max(one[1] for one in of_json):.0f} MB",
                      f"{len(of_json[0][2]) / 1e6:.0f} MB")
        return (table.text() + f"\n\nGrowth exponent over a factor of {sizes[-1] / sizes[0]:.0f} in trials: "
                f"{exponent(sizes, seconds):.2f}.")

    def records(self):
        sizes = [1000, 10000] if self.options.quick else [1000, 10000, 100000]
        table = Table("records", "resume", "status", "list")
        resumed = []
        for size in sizes:
            found = {name.split("/")[0]: one["real_time"] / 1000 for name, one in self.google(
                self.options.resume_benchmark, f"^(Resume|Status|Fields)/{size}/").items()}
            resumed.append(found["Resume"])
            table.add(f"{size:,}", *(f"{found[name]:.3f} s" for name in ("Resume", "Status", "Fields")))
        return (table.text() + f"\n\nGrowth exponent of the resume over a factor of {sizes[-1] // sizes[0]} in "
                f"records: {exponent(sizes, resumed):.2f}.")

    def profiles(self):
        """For each missed target, where its time is spent."""
        if not self.missed:
            return "None: every target is met."
        parts = []
        for what, command in self.missed:
            if command is None or shutil.which("perf") is None:
                parts.append(f"{what}: missed" + ("" if command is None else " (install perf for a profile)") + ".")
                continue
            record = os.path.join(self.folder, "perf.data")
            try:
                run(["perf", "record", "-F", "999", "-o", record, "--", *command])
                lines = [line.rstrip() for line in run(["perf", "report", "--stdio", "-i", record])[2].splitlines()
                         if line.strip() and not line.startswith("#")]
                parts.append(f"{what}:\n\n" + "\n".join("    " + line.strip()[:120] for line in lines[:12]))
            except RuntimeError as error:
                parts.append(f"{what}: no profile ({str(error)[:200]}).")
        return "\n\n".join(parts)


PARTS = {
    "steps": "Training steps",
    "bf16_steps": "Training steps in BF16",
    "augmentation": "Training with augmentation",
    "sweep": "A sweep of small trials",
    "scores": "Inference with all outputs, and scores",
    "evaluation": "Evaluation",
    "bootstrap": "Bootstrap",
    "loading": "Loading of images",
    "planning": "Planning",
    "records": "Records",
}


def cpu_field(name):
    with open("/proc/cpuinfo") as file:
        found = re.search(name + "\\s*: (.*)", file.read())
    return found[1] if found else ""


def cpu_flags():
    return set(cpu_field("flags").split())


def machine(options, workspace):
    model, flags = cpu_field("model name"), cpu_flags()
    best = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(["git", "-C", workspace, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    lines = [f"{datetime.date.today()}, commit {commit.stdout.strip() or 'unknown'}",
             f"{len(os.sched_getaffinity(0))} CPUs of {model or 'unknown'} ({best}), {memory:.0f} GB, "
             f"{platform.system()} {platform.release()}, glibc {platform.libc_ver()[1]}"]
    if options.python:
        lines.append("peers: Python " + ", ".join(
            [run([options.python, "-c", "import platform; print(platform.python_version())"])[2].strip(),
             *run([options.python, "-c", PEER_VERSIONS])[2].strip().splitlines()]))
    return lines


def kept_section(path, title):
    """The section of an earlier file that no part of this script writes, "" if there is none."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        found = re.search(f"^## {title}\n.*?(?=^## |\\Z)", file.read(), re.M | re.S)
    return found[0] if found else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for program in ("openset", "step_benchmark", "bootstrap_benchmark", "resume_benchmark", "image_folder",
                    "fashion_mnist"):
        parser.add_argument("--" + program, required=True, help="set by bazel run")
    parser.add_argument("--python", help="interpreter of the peers")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas: " + ", ".join(PARTS))
    parser.add_argument("--out", help="default: BENCHMARKS.md of the workspace")
    parser.add_argument("--remark", help="a sentence about the run, printed below the machine")
    options = parser.parse_args()
    for program in ("openset", "step_benchmark", "bootstrap_benchmark", "resume_benchmark", "image_folder"):
        setattr(options, program, os.path.abspath(getattr(options, program)))
    unknown = set(options.only.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"--only: no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY", os.getcwd())
    out = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", "."), options.out) if options.out else os.path.join(
        workspace, "BENCHMARKS.md")
    # Programs that look for the project's files use this script's.
    os.environ.setdefault("RUNFILES_DIR", os.path.dirname(os.getcwd()))
    with tempfile.TemporaryDirectory() as folder:
        benchmarks = Benchmarks(options, folder)
        text = ["# Benchmarks", "",
                "Written by `bazel run //tools:benchmarks`" + (", short form" if options.quick else "") +
                ". Values are medians, with the smallest and the largest in brackets. A ratio is the median of the "
                "rounds' ratios; both sides ran alternately.", ""]
        text += ["* " + line for line in machine(options, workspace)]
        if options.remark:
            text.append("* " + options.remark)
        for name in options.only.split(","):
            load = os.getloadavg()[0]
            begin = time.perf_counter()
            try:
                content = getattr(benchmarks, name)()
            except (RuntimeError, KeyError, OSError) as error:
                content = f"Failed: {error}"
            print(f"{name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
            text += ["", "## " + PARTS[name], "", f"Load before: {load:.1f}.", "", content]
        kept = [kept_section(out, title) for title in ("GPUs", "Threads and bundles", "Aims")]
        text += ["", "".join(kept) + "## Missed targets", "", benchmarks.profiles(), ""]
    with open(out, "w") as file:
        file.write("\n".join(text))
    print(out)


if __name__ == "__main__":
    main()
