"""Checks openset on a machine with a GPU, in less than 8 minutes: the first ten minutes of docs/gpu.md.

    python -m openset.gpu_check                                       an installed openset
    python3 tools/gpu_check --openset=bazel-bin/tools/openset         a build
    python3 tools/gpu_check --wheel=openset-...whl                    a wheel, which it installs in a temporary folder

Writes summary.json after each part, and log.txt with all commands and what they printed, to --out, and prints a table. Parts
fail alone: one that fails, hangs or has no time left is a line of the table, and the others go on, except after `install`. All
images are made up. It needs Python 3.9 and, to train on a GPU and for PyTorch's speed, PyTorch. --device=cpu tries the check itself, in a short form.
Exit code: 0 if no part found a problem, 1 if one did, 2 for wrong arguments.
"""
import argparse
import contextlib
import glob
import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import site
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = {"osrci_cnn": "osrci_cnn {}", "vgg32": "vgg32 {}", "resnet18": "resnet_cifar { variant: RESNET18 }"}
PRECISIONS = ("FP32", "TF32", "BF16")
CROP_AND_FLIP = "augmentation { random_crop { padding: 4 } } augmentation { horizontal_flip {} }"
RAND_AUGMENT = "augmentation { rand_augment { ops: 1 magnitude: 9 } } augmentation { random_crop { padding: 4 } }"
FITTED_TO_FEATURES = ("logistic_regression", "nearest_mean")  # on the CPU, without a network
CLASSES, SIDE = 10, 28


class Problem(Exception):
    """What a part found. Its second argument is the part's result."""


class LeftOut(Exception):
    """Why a part was not tried."""


class Check:
    def __init__(self, options, work):
        self.options, self.work, self.device = options, work, options.device
        self.on_gpu = self.device != "cpu"
        self.end = time.monotonic() + options.seconds
        self.running = []
        self.log = open(os.path.join(options.out, "log.txt"), "w", encoding="utf-8")
        self.environment = {
            "OPENSET_PYTHON": sys.executable, "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
            "TORCHINDUCTOR_CACHE_DIR": f"{work}/inductor",
            # The measured speeds are in its .cache. Python finds the user's own packages as before.
            "HOME": f"{work}/home", "PYTHONUSERBASE": site.getuserbase()}
        self.program = [os.path.abspath(options.openset)] if options.openset else [sys.executable, "-m", "openset"]
        self.worker = [f"--worker={os.path.abspath(options.worker)}"] if options.worker else []
        os.makedirs(f"{work}/home")
        if options.wheel:
            self.environment["PYTHONPATH"] = f"{work}/site"

    # Commands.

    def start(self, command, **environment):
        handle, path = tempfile.mkstemp(dir=self.work)
        with open(handle, "w") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                       cwd=self.work, start_new_session=True,
                                       env={**os.environ, **self.environment, **environment})
        process.output = path
        self.running.append(process)
        return process

    def kill(self, process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process in self.running:
            self.running.remove(process)

    def finish(self, process, seconds):
        """(exit code, output) of a process, which is killed with its group after these seconds or at the end of the time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(1, min(seconds, self.left())))
        self.kill(process)
        text = read(process.output)
        print(f"\n$ {' '.join(process.args)}\n{text[-20000:]}[exit code {process.returncode}]", file=self.log, flush=True)
        return process.returncode, text

    def run(self, command, seconds, **environment):
        return self.finish(self.start(command, **environment), seconds)

    def openset(self, *words, seconds=60, **environment):
        return self.run([*self.program, *words], seconds, **environment)

    def study_words(self, name, store, *flags, device=None):
        return [*self.program, "run", f"{self.work}/{name}.textproto", f"--devices={device or self.device}",
                f"--store={self.work}/{store}", *self.libraries(), *self.worker, *flags]

    def study(self, name, store, *flags, device=None, seconds=60, **environment):
        return self.run(self.study_words(name, store, "--retries=0", *flags, device=device), seconds, **environment)

    def libraries(self):
        return [f"--library={self.work}/library", f"--data={self.work}/data"]

    def left(self):
        return self.end - time.monotonic()

    def memory_used(self):
        """MiB of the device."""
        if not self.on_gpu:
            return 0
        return int(self.nvidia_smi("--query-gpu=memory.used", "--format=csv,noheader,nounits").split()[0])

    def nvidia_smi(self, *words):
        """What it says of the device."""
        if shutil.which("nvidia-smi") is None:
            raise LeftOut("there is no nvidia-smi")
        return self.run(["nvidia-smi", f"--id={self.device.split(':')[1]}", *words], 30)[1]

    # Files.

    def write(self, path, content):
        path = os.path.join(self.work, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def write_studies(self):
        sizes = {"train": 12000, "test": 2000} if self.on_gpu else {"train": 1000, "test": 400}
        parts = "".join(
            f'part {{ name: "{part}" samples: {size} samples_per_class: {size // CLASSES} '
            f'cifar_binary {{ file {{ path: "{part}.bin" }} }} }} ' for part, size in sizes.items())
        names = ", ".join(f'"class {c}"' for c in range(CLASSES))
        self.write("library/catalog/made_up.textproto",
                   f'name: "made_up" class_name: [{names}] channels: 1 height: {SIDE} width: {SIDE} layout {{ {parts} }}')
        self.write("library/tasks/made_up_6_3.textproto",
                   'name: "made_up_6_3" data_set: "made_up" split { known: [0, 1, 2, 3, 4, 5] unknown: [6, 7, 8] } '
                   'external { data_set: "made_up" class_id: 9 }')
        for part, size in sizes.items():
            self.write(f"data/{part}.bin", made_up_images(part, size))
        # The quickstart's methods, network and recipe.
        self.write("quick.textproto", study("quick", NETWORKS["osrci_cnn"], CROP_AND_FLIP, SIDE, 1, self.epochs(3), """
            method: "softmax" method: "ce_plus" method: "openauc" method: "openauc_paper"
            metric { accuracy {} } metric { auroc {} } metric { openauc {} }"""))
        self.write("methods.textproto", f"""name: "methods" task: "made_up_6_3" split: 0 seed: 0
            train_limit_per_class: 32 test_limit_per_class: 8 metric {{ accuracy {{}} }} metric {{ auroc {{}} }}
            override {{ input {{ size: 16 channels: 1 mean: 0.4 std: 0.3 }} model {{ vgg32 {{ width: 4 feature_dim: 8 }} }}
              training {{ epochs: 1 batch_size: 32 max_steps: 2 }}
              pretraining {{ training {{ epochs: 1 batch_size: 32 max_steps: 2 }} }} }}
            axis {{ path: "open_set.confusing_images.width" value: "4" method: "arpl_cs" }}
            """ + " ".join(f'method: "{name}"' for name in self.methods()))
        for name, network in NETWORKS.items():
            self.write(f"{name}.textproto", study(name, network, "", 32, 3))
        for name, augmentation in (("crop_flip", CROP_AND_FLIP), ("rand_augment", RAND_AUGMENT)):
            self.write(f"{name}.textproto", study(name, NETWORKS["osrci_cnn"], augmentation, 32, 3))
        self.write("small_rand_augment.textproto",
                   study("small_rand_augment", NETWORKS["osrci_cnn"], RAND_AUGMENT, SIDE, 1))
        self.write("small.textproto", study("small", NETWORKS["osrci_cnn"], CROP_AND_FLIP, SIDE, 1, self.epochs(30)))
        self.write("large.textproto", study("large", "vgg32 { width: 1024 }", "", SIDE, 1))
        self.write("share.textproto", "actions_per_gpu: 4\n")

    def epochs(self, on_a_gpu):
        return on_a_gpu if self.on_gpu else 1

    def methods(self):
        if not self.on_gpu:
            return ["arpl_cs", "odin", "openauc", "softmax"]
        _, text = self.openset("list", "methods")
        names = [line.split()[0] for line in text.splitlines() if re.match(r"[a-z0-9_]+  ", line)]
        return [name for name in names if name not in FITTED_TO_FEATURES]

    def checkpoints(self, store):
        return {path.split("/")[-2][:12]: hashlib.sha256(open(path, "rb").read()).hexdigest()
                for path in glob.glob(f"{self.work}/{store}/checkpoints/*/*/checkpoint.safetensors")}

    def compare(self, a, b):
        """Raises Problem unless both stores have the same checkpoints, to the bit."""
        first, second = self.checkpoints(a), self.checkpoints(b)
        result = {"checkpoints": len(first), "different": sorted(k for k in first if first[k] != second.get(k))}
        if not first or len(first) != len(second) or result["different"]:
            raise Problem(f"{len(result['different'])} of {len(first)} checkpoints differ", result)
        return result

    # The parts. Each returns what the summary says, and may raise Problem or LeftOut.

    def install(self):
        result = {}
        if self.options.wheel:
            code, text = self.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile",
                                   "--target", f"{self.work}/site", os.path.abspath(self.options.wheel)], 120)
            if code != 0:
                raise Problem(last_line(text), result)
        code, text = self.openset("--version", seconds=120)
        result["openset"] = text.splitlines()[:2]
        if code != 0:
            raise Problem(f"openset does not start: {last_line(text)}", result)
        # The first start of PyTorch on a machine reads gigabytes.
        _, text = self.run([sys.executable, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"], 180)
        result["PyTorch, and whether it sees a GPU"] = last_line(text)
        self.write_studies()
        if self.on_gpu:
            query = "name,driver_version,clocks.sm,clocks.max.sm,power.limit,memory.total"
            try:
                result["GPU"] = last_line(self.nvidia_smi(f"--query-gpu={query}", "--format=csv,noheader"))
            except LeftOut as why:
                result["GPU"] = str(why)
        return result

    def devices(self):
        code, text = self.openset("devices", "--check", f"--devices={self.device}", *self.worker, seconds=120)
        result = {"lines": text.splitlines()}
        if code != 0:
            raise Problem(last_line(text), result)
        return result

    def quickstart(self):
        """On the CPU and on the device, whose accuracies should be as near as with two seeds."""
        means = {}
        for place in dict.fromkeys([self.device, "cpu"]):
            code, text = self.study("quick", f"quick_{place}", device=place, seconds=120)
            if code != 0:
                raise Problem(f"{place}: {last_line(text)}", {})
            for path in glob.glob(f"{self.work}/quick_{place}/reports/*/report.json"):
                with open(path, encoding="utf-8") as file:
                    means[place] = {f"{cell['method']}, {cell['metric']}": cell["mean"] for cell in json.load(file)["cells"]
                                    if cell["mean"] is not None and cell["group"] in ("", "pool", None)}
        cpu, device = means["cpu"], means[self.device]
        largest = max((abs(cpu[k] - device[k]) for k in cpu if "accuracy" in k), default=None)
        result = {"largest difference of accuracy": largest,
                  "cpu, device": {k: [round(cpu[k], 4), round(device[k], 4)] for k in cpu if k in device}}
        if not cpu or cpu.keys() != device.keys():
            raise Problem("some methods have no numbers on one of the devices", result)
        if largest > 0.05:
            raise Problem(f"an accuracy differs by {100 * largest:.1f} points", result)
        return result

    def repeat(self):
        result = {}
        for precision in PRECISIONS if self.on_gpu else ("FP32",):
            for store in ("first", "second"):
                self.study("quick", f"{precision}_{store}", f"--set=execution.precision={precision}", "--methods=softmax,openauc")
            result[precision] = self.compare(f"{precision}_first", f"{precision}_second")
        return result

    def all_methods(self):
        """Two steps of each, on the CPU at the same time: what fails there too is not the device's fault."""
        places = list(dict.fromkeys([self.device, "cpu"]))
        running = {place: self.start(self.study_words("methods", f"methods_{place}", "--retries=0", device=place))
                   for place in places}
        result, failed = {}, {}
        for place in places:
            code, text = self.finish(running[place], 150)
            if code not in (0, 1):
                raise Problem(f"{place}: {last_line(text)}", result)
            _, text = self.openset("status", f"{self.work}/methods.textproto", f"--devices={place}", "--format=json",
                                   f"--store={self.work}/methods_{place}", *self.libraries())
            status = json.loads(text[text.index("{"):])
            result[f"done on {place}"] = f"{status['done']} of {status['trials']}"
            failed[place] = {f["what"].split(":")[0]: f["what"] for f in status["failed"]}
        result["failed on the CPU too"] = sum(what in failed["cpu"] for what in failed[self.device])
        only = [text[:400] for what, text in failed[self.device].items() if what not in failed["cpu"]]
        if only:
            raise Problem(f"{len(only)} failed only on the device: {only[0]}", {**result, "failed only on the device": only})
        return result

    def probe(self, name, *flags, **environment):
        """Training images a second, by the probe of `openset plan`; what it says if there are none."""
        shutil.rmtree(f"{self.work}/home/.cache/openset/probes", ignore_errors=True)
        _, text = self.openset("plan", f"{self.work}/{name}.textproto", "--probe", f"--devices={self.device}", *flags,
                               *self.worker, f"--store={self.work}/none", *self.libraries(), **environment)
        for path in glob.glob(f"{self.work}/home/.cache/openset/probes/*"):
            with open(path, encoding="utf-8") as file:
                return round(float(file.readline()))
        return last_line(text)

    def speed(self):
        result = {}
        sampler = None
        if self.on_gpu and shutil.which("nvidia-smi"):
            sampler = self.start(["nvidia-smi", f"--id={self.device.split(':')[1]}", "--query-gpu=utilization.gpu",
                                  "--format=csv,noheader,nounits", "-lms", "100"])
        for name in NETWORKS if self.on_gpu else ["osrci_cnn"]:
            for precision in PRECISIONS if self.on_gpu else ("FP32",):
                begin = len(read(sampler.output)) if sampler else 0
                found = {"openset": self.probe(name, f"--set=execution.precision={precision}")}
                if sampler:
                    busy = sorted(int(word) for word in read(sampler.output)[begin:].split() if word.isdigit())[-10:]
                    found["GPU busy, %"] = busy[len(busy) // 2] if busy else None
                result[f"{name} {precision}"] = found
        if sampler:
            self.kill(sampler)
        result["osrci_cnn FP32, crop and flip"] = {"openset": self.probe("crop_flip")}
        if not all(isinstance(found["openset"], int) for found in result.values()):
            raise Problem("a probe failed", result)
        return result

    def torch_words(self, network, how):
        seconds = "1" if self.on_gpu else "0.1"
        return [sys.executable, os.path.join(HERE, "torch_rates.py"), network, self.device, how, seconds]

    def torch_rates(self, how, seconds):
        if importlib.util.find_spec("torch") is None:
            raise LeftOut(f"{sys.executable} has no PyTorch")
        result = {}
        for network in NETWORKS if self.on_gpu else ["osrci_cnn"]:
            _, text = self.run(self.torch_words(network, how), seconds)
            lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"')]
            rates = {name: rate for line in lines for name, rate in line.items()}
            result[network] = rates or f"nothing within {seconds} s; last line: {last_line(text)}"
        if not any(isinstance(rates, dict) for rates in result.values()):
            raise LeftOut(f"PyTorch gave no speed: {result}")
        return result

    def pytorch(self):
        return self.torch_rates("eager", 40)

    def pytorch_compiled(self):
        if not self.on_gpu:
            raise LeftOut("torch.compile takes minutes on a CPU")
        return self.torch_rates("compile", 60)

    def kernel(self):
        """RandAugment by the CPU and by openset's own kernel; the part `speed` has the same network without it."""
        by_cpu = {"OPENSET_PIXEL_KERNEL": "none"}
        result = {"by the CPU": self.probe("rand_augment", **by_cpu)}
        if not isinstance(result["by the CPU"], int):
            raise Problem("a probe failed", result)
        if not self.on_gpu or not os.path.exists(self.kernel_library()):
            return {**result, "by the kernel": "not tried: it needs a GPU, and a wheel or a build with --config=cuda"}
        result["by the kernel"] = self.probe("rand_augment")
        self.study("small_rand_augment", "by_cpu", **by_cpu)
        self.study("small_rand_augment", "by_kernel")
        return {**result, **self.compare("by_cpu", "by_kernel")}

    def kernel_library(self):
        if self.options.openset:
            runfiles = os.path.realpath(self.program[0]) + ".runfiles"
        else:
            package = f"{self.work}/site/openset" if self.options.wheel else \
                importlib.util.find_spec("openset").submodule_search_locations[0]
            runfiles = f"{package}/_program/openset.runfiles"
        return f"{runfiles}/openset/data/augment/pixels/libpixel_ops_kernel.so"

    def stop(self):
        """kill -9 of the worker, Ctrl-C, and the same command again."""
        before, epochs = self.memory_used(), f"--set=training.epochs={3000 if self.on_gpu else 60}"
        process = self.start(self.study_words("small", "stop", "--retries=2", "--methods=softmax", epochs))
        self.wait(lambda: workers_of(process.pid) and self.memory_used() >= before + (500 if self.on_gpu else 0), 60)
        time.sleep(4 if self.on_gpu else 1)
        result, killed = {"MiB before": before, "MiB in training": self.memory_used()}, workers_of(process.pid)
        if killed:
            os.kill(killed[0], signal.SIGKILL)
            result["seconds to a new worker"] = self.wait(lambda: set(workers_of(process.pid)) - set(killed), 30)
            time.sleep(5 if self.on_gpu else 2)
        process.send_signal(signal.SIGINT)
        result["seconds to stop"] = self.wait(lambda: process.poll() is not None, 20)
        result["exit code"], _ = self.finish(process, 1)
        result["seconds until its memory is free"] = self.wait(lambda: self.memory_used() <= before + 50, 10)
        again = self.start(self.study_words("small", "stop", "--methods=softmax", epochs))
        resumed = lambda: any("resuming after" in read(path)
                              for path in glob.glob(f"{self.work}/stop/logs/*.log"))
        self.wait(lambda: resumed() or again.poll() is not None, 30)
        result["goes on from its state"] = resumed()
        self.kill(again)
        if not killed or None in result.values() or result["exit code"] != 130 or not result["goes on from its state"]:
            raise Problem("it did not stop and go on as it should", result)
        return result

    def memory(self):
        """A batch that is too large fails alone, and says why."""
        if not self.on_gpu:
            raise LeftOut("the CPU's memory is not filled")
        before = self.memory_used()
        code, text = self.study("large", "large", "--set=training.batch_size=12000", seconds=90)
        result = {"lines": [line[:200] for line in text.splitlines() if "memory" in line][:3], "exit code": code,
                  "seconds until its memory is free": self.wait(lambda: self.memory_used() <= before + 50, 10)}
        if code == 0:
            raise LeftOut("the GPU has room for it")
        if "CUDA out of memory" not in text or None in result.values():
            raise Problem("it did not fail as it should", result)
        return result

    def several(self):
        """Eight trainings one after the other, and four at a time on the GPU."""
        if not self.on_gpu:
            raise LeftOut("it is about GPUs")
        result = {}
        for name, flags in (("one at a time", []), ("four at a time", [f"--deploy={self.work}/share.textproto"])):
            begin = time.monotonic()
            code, text = self.study("small", f"several {len(flags)}", "--seeds=0..7", *flags, seconds=90)
            result[f"seconds, {name}"] = round(time.monotonic() - begin, 1)
            if code != 0:
                raise Problem(last_line(text), result)
        return result

    def wait(self, what, seconds):
        """The seconds until `what()`; None if it did not come in these seconds."""
        begin = time.monotonic()
        while time.monotonic() - begin < min(seconds, max(1, self.left())):
            if what():
                return round(time.monotonic() - begin, 2)
            time.sleep(0.05)
        return None


# Each part and the seconds that must be left for it on a GPU.
PARTS = [("install", 0), ("devices", 30), ("quickstart", 30), ("repeat", 30), ("all_methods", 40), ("speed", 90), ("pytorch", 30),
         ("stop", 40), ("memory", 20), ("several", 40), ("kernel", 40), ("pytorch_compiled", 40)]
TIMED = "speed"  # and what comes after it


def made_up_images(part, count):
    """Images of a class share a pattern of blocks, shifted, of which three quarters of the pixels are noise."""
    draw, bytes_of_image = random.Random(part), SIDE * SIDE
    one = int.from_bytes(b"\1" * bytes_of_image, "big")
    patterns = []
    for label in range(CLASSES):
        level = random.Random(label)
        blocks = [[level.randrange(256) for _ in range(SIDE // 4)] for _ in range(SIDE // 4)]
        patterns.append(bytes(blocks[y // 4][x // 4] for y in range(SIDE) for x in range(SIDE)))
    images = []
    for i in range(count):
        shift = draw.randrange(4)
        pattern = patterns[i % CLASSES]
        noise_at = ((draw.getrandbits(8 * bytes_of_image) | draw.getrandbits(8 * bytes_of_image)) & one) * 255
        image = int.from_bytes(pattern[shift:] + pattern[:shift], "big")
        image = (image & ~noise_at) | (draw.getrandbits(8 * bytes_of_image) & noise_at)
        images.append(struct.pack("B", i % CLASSES) + image.to_bytes(bytes_of_image, "big"))
    return b"".join(images)


def study(name, network, augmentation, size, channels, epochs=1, rest='method: "softmax" metric { auroc {} }'):
    return f"""name: "{name}" task: "made_up_6_3" split: 0 seed: 0 {rest}
        override {{ model {{ {network} head {{ linear {{ bias: true }} }} }}
          input {{ size: {size} channels: {channels} mean: 0.5 std: 0.3 }} augmentation {{ resize {{}} }} {augmentation}
          training {{ epochs: {epochs} batch_size: 128 schedule {{ constant {{}} }}
            optimizer {{ learning_rate: 0.01 weight_decay: 1e-4 sgd {{ momentum: 0.9 }} }} }} }}"""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def last_line(text):
    return next((line.strip()[:300] for line in reversed(text.splitlines()) if line.strip()), "it printed nothing")


def workers_of(process):
    """The process ids of the training workers of an openset."""
    workers = []
    for path in glob.glob(f"/proc/{process}/task/*/children"):
        with contextlib.suppress(OSError):
            for child in open(path).read().split():
                if b"worker" in open(f"/proc/{child}/cmdline", "rb").read() and \
                        b"evaluate-worker" not in open(f"/proc/{child}/cmdline", "rb").read():
                    workers.append(int(child))
    return workers


def try_part(check, name, need):
    """{"outcome": ok, problem, left out or failed; "why"; "seconds"; and what it found}."""
    begin = time.monotonic()
    try:
        if check.left() < need:
            raise LeftOut(f"{check.left():.0f} seconds were left, and it needs {need}")
        result = {"outcome": "ok", **getattr(check, name)()}
    except Problem as problem:
        result = {"outcome": "problem", "why": problem.args[0], **problem.args[1]}
    except LeftOut as why:
        result = {"outcome": "left out", "why": str(why)}
    except Exception:  # of the part's own: the others go on
        lines = traceback.format_exc().strip().splitlines()
        result = {"outcome": "failed", "why": lines[-1], "where": lines[-3:-1]}
    return {**result, "seconds": round(time.monotonic() - begin, 1)}


def parts_table(summary):
    rows = [("part", "outcome", "seconds", "")]
    rows += [(name, found["outcome"], str(found["seconds"]), found.get("why", "")) for name, found in summary.items()]
    widths = [max(len(row[c]) for row in rows) for c in range(3)]
    return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows)


def rates_of(summary, part, network):
    rates = summary.get(part, {}).get(network)
    return rates if isinstance(rates, dict) else {}


def speed_table(summary):
    """openset beside PyTorch, in training images a second."""
    lines = []
    for name, found in summary.get("speed", {}).items():
        if not isinstance(found, dict):
            continue
        network, _, precision = name.partition(" ")
        theirs = {variant: rate for part in ("pytorch", "pytorch_compiled")
                  for variant, rate in rates_of(summary, part, network).items() if variant.startswith(precision)} if "," not in precision else {}
        lines.append(f"{name}: " + ", ".join(f"{k} {v}" for k, v in {**found, **theirs}.items()))
    return "\n".join(["training images a second, openset and PyTorch:", *lines]) if lines else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openset", help="the program; default: that of the installed package")
    parser.add_argument("--wheel", help="install this wheel in a temporary folder, and check its program")
    parser.add_argument("--worker", help="the program that trains; default: openset's own")
    parser.add_argument("--device", default="cuda:0", help="cuda:N or cpu; default: cuda:0")
    parser.add_argument("--seconds", type=float, default=450, help="start nothing that would take longer; default: 450")
    parser.add_argument("--parts", default="", help=f"only these, separated by commas: {', '.join(name for name, _ in PARTS)}")
    parser.add_argument("--out", default="gpu_check", help="the folder for summary.json and log.txt; default: gpu_check")
    options = parser.parse_args()
    names = [name for name, _ in PARTS]
    wanted = options.parts.split(",") if options.parts else names
    for name in wanted:
        if name not in names:
            parser.error(f"--parts: there is no part {name}; there are {', '.join(names)}")
    if not re.fullmatch(r"cpu|cuda:\d+", options.device):
        parser.error(f"--device: '{options.device}' is not cpu or cuda:N")
    if options.openset and options.wheel:
        parser.error("--openset: can't be combined with --wheel")
    for flag, path in (("openset", options.openset), ("wheel", options.wheel), ("worker", options.worker)):
        if path and not os.path.isfile(path):
            parser.error(f"--{flag}: there is no file {path}")
    if options.wheel and not zipfile.is_zipfile(options.wheel):
        parser.error(f"--wheel: {options.wheel} is not a wheel")
    if not options.openset and not options.wheel and importlib.util.find_spec("openset") is None:
        parser.error(f"{sys.executable} has no openset: name the program (--openset) or a wheel (--wheel)")
    os.makedirs(options.out, exist_ok=True)
    summary = {}
    with tempfile.TemporaryDirectory(prefix="openset-gpu-check-") as work:
        check = Check(options, work)
        compiling = None  # torch.compile fills its cache while nothing is timed
        try:
            for name, need in PARTS:
                if name not in wanted and name != "install":
                    continue
                if name == TIMED and compiling is not None:
                    check.finish(compiling, max(1, check.left() - 280))
                summary[name] = try_part(check, name, need)
                with open(os.path.join(options.out, "summary.json"), "w", encoding="utf-8") as file:
                    json.dump(summary, file, indent=1)
                print(f"{name}: {summary[name]['outcome']} {summary[name].get('why', '')}".rstrip(), flush=True)
                if name == "install" and summary[name]["outcome"] != "ok":  # the other parts would only say so again
                    break
                if name == "install" and check.on_gpu and "pytorch_compiled" in wanted:
                    compiling = check.start(["sh", "-c", "; ".join(
                        " ".join(check.torch_words(network, "compile")) for network in NETWORKS)])
        finally:
            for process in list(check.running):
                check.kill(process)
    print("\n" + parts_table(summary))
    print("\n".join(filter(None, [speed_table(summary), f"{options.out}/summary.json and log.txt have the rest."])))
    sys.exit(0 if all(found["outcome"] in ("ok", "left out") for found in summary.values()) else 1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
