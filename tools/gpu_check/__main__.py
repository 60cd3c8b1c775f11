"""Checks openset on a machine with a GPU, in less than 8 minutes: the first ten minutes of docs/gpu.md.

    python -m openset.gpu_check                                       an installed openset
    python3 tools/gpu_check --openset=bazel-bin/tools/openset         a build
    python3 tools/gpu_check --wheel=openset-...whl                    a wheel, which it installs in a temporary folder

Writes summary.json before and after each part, and log.txt with all commands and what they printed, to --out, and prints a
table. Parts fail alone: one that fails, hangs or has no time left is a line of the table with what it had found, and the others
go on, except after `install`. It ends within --seconds; SIGTERM and Ctrl-C end it at once, with the table. All images are made
up. It needs Python 3.9 and, to train on a GPU and for PyTorch's speed, PyTorch. --short tries the check itself, with small sizes,
as --device=cpu does.
Exit code: 0 if no part found a problem, 1 if one did or the check was stopped, 2 for wrong arguments.
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
import shlex
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
ON_ONE_CPU = [sys.executable, "-c", "import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
              "os.execvp(sys.argv[1], sys.argv[1:])"]


class Problem(Exception):
    """What a part found."""


class LeftOut(Exception):
    """Why a part was not tried."""


class Stopped(BaseException):
    """By a signal."""


class Check:
    def __init__(self, options, work):
        self.options, self.work, self.device = options, work, options.device
        self.on_gpu = self.device != "cpu"
        self.is_short = options.short or not self.on_gpu
        self.end = self.end_of_part = time.monotonic() + options.seconds
        self.scale = options.seconds / DEFAULT_SECONDS  # of what single commands may take
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
        if self.left() <= 0:
            raise Problem("its time was up")
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
        seconds, killed = max(1, min(self.scale * seconds, self.left())), ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            killed = f"\n[killed after {seconds:.0f} s]\n"
        self.kill(process)
        text = read(process.output) + killed
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
        return min(self.end, self.end_of_part) - time.monotonic()

    def memory_used(self):
        """MiB of the device; 0 if nothing says so."""
        if not self.on_gpu or shutil.which("nvidia-smi") is None:
            return 0
        _, text = self.run(self.nvidia_smi("--query-gpu=memory.used", "--format=csv,noheader,nounits"), 30)
        return int(text) if text.strip().isdigit() else 0

    def nvidia_smi(self, *words):
        """The command that asks for the device, which has another number if CUDA sees only some."""
        number, visible = self.device.split(":")[1], os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        return ["nvidia-smi", f"--id={visible[int(number)] if int(number) < len(visible) and visible[0] else number}", *words]

    # Files.

    def write(self, path, content):
        path = os.path.join(self.work, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def write_studies(self):
        sizes = {"train": 12000, "test": 2000} if not self.is_short else {"train": 400, "test": 200}
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
        methods = ["softmax", "openauc"] if self.is_short else ["softmax", "ce_plus", "openauc", "openauc_paper"]
        self.write("quick.textproto", study("quick", NETWORKS["osrci_cnn"], CROP_AND_FLIP, SIDE, 1, self.epochs(3),
                                            " ".join(f'method: "{name}"' for name in methods) +
                                            " metric { accuracy {} } metric { auroc {} } metric { openauc {} }"))
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
        self.write("probe.textproto", f'worker: "{os.path.abspath(self.options.worker)}"' if self.options.worker else "")

    def epochs(self, usual):
        return 1 if self.is_short else usual

    def methods(self):
        if self.is_short:
            return ["arpl_cs", "odin", "openauc", "softmax"]
        _, text = self.openset("list", "methods")
        names = [line.split()[0] for line in text.splitlines() if re.match(r"[a-z0-9_]+  ", line)]
        return [name for name in names if name not in FITTED_TO_FEATURES]

    def checkpoints(self, store):
        return {path.split("/")[-2][:12]: hashlib.sha256(open(path, "rb").read()).hexdigest()
                for path in glob.glob(f"{self.work}/{store}/checkpoints/*/*/checkpoint.safetensors")}

    def compare(self, a, b):
        """Whether both stores have the same checkpoints, to the bit."""
        first, second = self.checkpoints(a), self.checkpoints(b)
        different = sorted(k for k in first | second if first.get(k) != second.get(k))
        return {"checkpoints": len(first), "different": different, "equal": bool(first) and not different}

    # The parts. Each adds to `result` what the summary says as soon as it knows it, and may raise Problem or LeftOut.

    def install(self, result):
        if self.options.wheel:
            unpack(self.options.wheel, f"{self.work}/site")
        code, text = self.openset("--version", seconds=120)
        result["openset"] = text.splitlines()[:2]
        if code != 0:
            raise Problem(f"openset does not start: {last_line(text)}")
        # The first start of PyTorch on a machine reads gigabytes.
        _, text = self.run([sys.executable, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"], 180)
        result["PyTorch, and whether it sees a GPU"] = last_line(text)
        self.write_studies()
        if self.on_gpu and shutil.which("nvidia-smi") is None:
            result["GPU"] = "there is no nvidia-smi"
        elif self.on_gpu:
            query = "name,driver_version,clocks.sm,clocks.max.sm,power.limit,memory.total"
            result["GPU"] = last_line(self.run(self.nvidia_smi(f"--query-gpu={query}", "--format=csv,noheader"), 30)[1])

    def devices(self, result):
        code, text = self.openset("devices", "--check", f"--devices={self.device}", *self.worker, seconds=120)
        result["lines"] = text.splitlines()
        if code != 0:
            raise Problem(last_line(text))

    def quickstart(self, result):
        """On the CPU and on the device, whose accuracies should be as near as with two seeds."""
        means = {}
        for place in dict.fromkeys([self.device, "cpu"]):
            code, text = self.study("quick", f"quick_{place}", device=place, seconds=120)
            if code != 0:
                raise Problem(f"{place}: {last_line(text)}")
            for path in glob.glob(f"{self.work}/quick_{place}/reports/*/report.json"):
                with open(path, encoding="utf-8") as file:
                    means[place] = {f"{cell['method']}, {cell['metric']}": cell["mean"] for cell in json.load(file)["cells"]
                                    if cell["mean"] is not None and cell["group"] in ("", "pool", None)}
        cpu, device = means.get("cpu", {}), means.get(self.device, {})
        result["cpu, device"] = {k: [round(cpu[k], 4), round(device[k], 4)] for k in cpu if k in device}
        if not cpu or cpu.keys() != device.keys():
            raise Problem("some methods have no numbers on one of the devices")
        largest = result["largest difference of accuracy"] = max(abs(cpu[k] - device[k]) for k in cpu if "accuracy" in k)
        if largest > 0.05:
            raise Problem(f"an accuracy differs by {100 * largest:.1f} points")

    def repeat(self, result):
        for precision in PRECISIONS if self.on_gpu else ("FP32",):
            for store in ("first", "second"):
                code, text = self.study("quick", f"{precision}_{store}", f"--set=execution.precision={precision}",
                                        "--methods=softmax,openauc")
                if code != 0:
                    result[f"{precision}, {store}"] = last_line(text)
            result[precision] = self.compare(f"{precision}_first", f"{precision}_second")
        unequal = [precision for precision in PRECISIONS if not result.get(precision, {"equal": True})["equal"]]
        if unequal:
            raise Problem(f"checkpoints are missing or differ in {', '.join(unequal)}")

    def all_methods(self, result):
        """Two steps of each, on the CPU at the same time: what fails there too is not the device's fault."""
        places = list(dict.fromkeys([self.device, "cpu"]))
        running = {place: self.start(self.study_words("methods", f"methods_{place}", "--retries=0", device=place))
                   for place in places}
        failed, stopped = {}, []
        for place in places:
            code, text = self.finish(running[place], 150)
            if code not in (0, 1):
                stopped.append(f"{place}: {last_line(text)}")
            _, text = self.openset("status", f"{self.work}/methods.textproto", f"--devices={place}", "--format=json",
                                   f"--store={self.work}/methods_{place}", *self.libraries())
            status = json.loads(text[text.index("{"):])
            result[f"done on {place}"] = f"{status['done']} of {status['trials']}"
            failed[place] = {f["what"].split(":")[0]: f["what"] for f in status["failed"]}
        result["failed on the CPU too"] = sum(what in failed["cpu"] for what in failed[self.device])
        only = [text[:400] for what, text in failed[self.device].items() if what not in failed["cpu"]]
        if only:
            result["failed only on the device"] = only
            raise Problem(f"{len(only)} failed only on the device: {only[0]}")
        if stopped:
            raise Problem(stopped[0])

    def probe(self, name, *flags, prefix=(), **environment):
        """Training images a second, by the probe of `openset plan`; what it says if there are none."""
        shutil.rmtree(f"{self.work}/home/.cache/openset/probes", ignore_errors=True)
        _, text = self.run([*prefix, *self.program, "plan", f"{self.work}/{name}.textproto", "--probe",
                            f"--devices={self.device}", *flags, f"--deploy={self.work}/probe.textproto",
                            f"--store={self.work}/none", *self.libraries()], 60, **environment)
        for path in glob.glob(f"{self.work}/home/.cache/openset/probes/*"):
            with open(path, encoding="utf-8") as file:
                return round(float(file.readline()))
        return next((line.strip()[:300] for line in text.splitlines() if "the probe of" in line), last_line(text))

    def speed(self, result):
        sampler = None
        if self.on_gpu and shutil.which("nvidia-smi"):
            sampler = self.start(self.nvidia_smi("--query-gpu=utilization.gpu,clocks.sm", "--format=csv,noheader,nounits",
                                                 "-lms", "100"))
        for name in ["osrci_cnn"] if self.is_short else NETWORKS:
            for precision in PRECISIONS if self.on_gpu else ("FP32",):
                found, begin = result.setdefault(f"{name} {precision}", {}), len(read(sampler.output)) if sampler else 0
                found["openset"] = self.probe(name, f"--set=execution.precision={precision}")
                if sampler:
                    # At the probe's end.
                    found["GPU busy, %"], found["GPU clock, MHz"] = medians_of_last(read(sampler.output)[begin:], 10)
        if sampler:
            self.kill(sampler)
        result["osrci_cnn FP32, crop and flip"] = {"openset": self.probe("crop_flip")}
        if self.on_gpu:
            # The threads that launch kernels wake each other between CPUs.
            for name in ("osrci_cnn",) if self.is_short else ("osrci_cnn", "vgg32"):
                result[f"{name} FP32"]["openset, one CPU"] = self.probe(name, prefix=ON_ONE_CPU)
        failed = [text for found in result.values() if isinstance(found, dict)
                  for key, text in found.items() if key.startswith("openset") and not isinstance(text, int)]
        if failed:
            raise Problem(failed[0])

    def torch_words(self, network, how):
        seconds = "0.1" if self.is_short else "1"
        return [sys.executable, os.path.join(HERE, "torch_rates.py"), network, self.device, how, seconds]

    def torch_rates(self, how, seconds, result):
        if importlib.util.find_spec("torch") is None:
            raise LeftOut(f"{sys.executable} has no PyTorch")
        for network in ["osrci_cnn"] if self.is_short else NETWORKS:
            _, text = self.run(self.torch_words(network, how), seconds)
            lines = [json.loads(line) for line in text.splitlines() if line.startswith('{"')]
            rates = {name: rate for line in lines for name, rate in line.items()}
            result[network] = rates or f"nothing within {seconds} s; last line: {last_line(text)}"
        if not any(isinstance(rates, dict) for rates in result.values()):
            raise LeftOut("PyTorch gave no speed")

    def pytorch(self, result):
        self.torch_rates("eager", 40, result)

    def pytorch_compiled(self, result):
        if self.is_short:
            raise LeftOut("torch.compile takes minutes")
        self.torch_rates("compile", 60, result)

    def kernel(self, result):
        """RandAugment by the CPU and by openset's own kernel; the part `speed` has the same network without it."""
        by_cpu = {"OPENSET_PIXEL_KERNEL": "none"}
        result["by the CPU"] = self.probe("rand_augment", **by_cpu)
        if not isinstance(result["by the CPU"], int):
            raise Problem(result["by the CPU"])
        if not self.on_gpu or not os.path.exists(self.kernel_library()):
            result["by the kernel"] = "not tried: it needs a GPU, and a wheel or a build with --config=cuda"
            return
        result["by the kernel"] = self.probe("rand_augment")
        self.study("small_rand_augment", "by_cpu", **by_cpu)
        self.study("small_rand_augment", "by_kernel")
        result.update(self.compare("by_cpu", "by_kernel"))
        if not result["equal"]:
            raise Problem("the kernel's checkpoint is missing or has other bits")

    def kernel_library(self):
        if self.options.openset:
            runfiles = os.path.realpath(self.program[0]) + ".runfiles"
        else:
            package = f"{self.work}/site/openset" if self.options.wheel else \
                importlib.util.find_spec("openset").submodule_search_locations[0]
            runfiles = f"{package}/_program/openset.runfiles"
        return f"{runfiles}/openset/data/augment/pixels/libpixel_ops_kernel.so"

    def stop(self, result):
        """kill -9 of the worker, Ctrl-C, and the same command again."""
        before, epochs = self.memory_used(), "--set=training.epochs=3000"
        result["MiB before"] = before
        process = self.start(self.study_words("small", "stop", "--retries=2", "--methods=softmax", epochs))
        self.wait(lambda: self.logged("stop", "train_accuracy:"), 60)  # an epoch has ended
        time.sleep(1 if self.is_short else 4)
        result["MiB in training"], killed = self.memory_used(), workers_of(process.pid)
        if killed:
            os.kill(killed[0], signal.SIGKILL)
            result["seconds to a new worker"] = self.wait(lambda: set(workers_of(process.pid)) - set(killed), 30)
            time.sleep(2 if self.is_short else 5)
        process.send_signal(signal.SIGINT)
        result["seconds to stop"] = self.wait(lambda: process.poll() is not None, 20)
        result["exit code"], _ = self.finish(process, 1)
        result["seconds until its memory is free"] = self.wait(lambda: self.memory_used() <= before + 50, 10)
        again = self.start(self.study_words("small", "stop", "--methods=softmax", epochs))
        self.wait(lambda: self.logged("stop", "resuming after") or again.poll() is not None, 30)
        result["goes on from its state"] = self.logged("stop", "resuming after")
        self.kill(again)
        if not killed or None in result.values() or result["exit code"] != 130 or not result["goes on from its state"]:
            raise Problem("it did not stop and go on as it should")

    def memory(self, result):
        """A batch that is too large fails alone, and says why."""
        if self.is_short:
            raise LeftOut("the memory is not filled")
        before = self.memory_used()
        code, text = self.study("large", "large", "--set=training.batch_size=12000", seconds=90)
        result["lines"] = [line[:200] for line in text.splitlines() if "memory" in line][:3]
        result["exit code"] = code
        result["seconds until its memory is free"] = self.wait(lambda: self.memory_used() <= before + 50, 10)
        if code == 0:
            raise LeftOut("the GPU has room for it")
        if "CUDA out of memory" not in text or None in result.values():
            raise Problem("it did not fail as it should")

    def several(self, result):
        """Eight trainings one after the other, and four at a time on the GPU."""
        if not self.on_gpu:
            raise LeftOut("it is about GPUs")
        seeds = "--seeds=0..1" if self.is_short else "--seeds=0..7"
        for name, flags in (("one at a time", []), ("four at a time", [f"--deploy={self.work}/share.textproto"])):
            begin = time.monotonic()
            code, text = self.study("small", f"several {len(flags)}", seeds, *flags, seconds=90)
            result[f"seconds, {name}"] = round(time.monotonic() - begin, 1)
            if code != 0:
                raise Problem(last_line(text))
        if shutil.which("nvidia-cuda-mps-control") is None or self.left() < 25:
            result["with MPS"] = "not tried: there is no nvidia-cuda-mps-control, or no time left"
            return
        mps = {name: f"{self.work}/mps" for name in ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")}
        os.makedirs(f"{self.work}/mps")
        daemon = self.start(["nvidia-cuda-mps-control", "-f"], **mps)
        time.sleep(1)
        begin = time.monotonic()
        code, text = self.study("small", "several with MPS", seeds, *flags, seconds=60, **mps)
        result["seconds, four at a time with MPS"] = round(time.monotonic() - begin, 1) if code == 0 else last_line(text)
        self.run(["sh", "-c", "echo quit | nvidia-cuda-mps-control"], 10, **mps)
        self.finish(daemon, 5)

    def logged(self, store, words):
        """Whether a worker has said so."""
        return any(words in read(path) for path in glob.glob(f"{self.work}/{store}/logs/*.log"))

    def wait(self, what, seconds):
        """The seconds until `what()`; None if it did not come in these seconds."""
        begin = time.monotonic()
        while time.monotonic() - begin < self.scale * seconds and self.left() > 0:
            if what():
                return round(time.monotonic() - begin, 2)
            time.sleep(0.05)
        return None


DEFAULT_SECONDS = 450
# Each part, the seconds that must be left for it, and the most that it may take of DEFAULT_SECONDS.
PARTS = [("install", 0, 240), ("devices", 30, 100), ("quickstart", 30, 100), ("repeat", 30, 100), ("all_methods", 40, 190),
         ("speed", 90, 150), ("pytorch", 30, 90), ("stop", 40, 80), ("memory", 20, 60), ("several", 40, 90), ("kernel", 30, 60),
         ("pytorch_compiled", 30, 180)]
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


def unpack(wheel, folder):
    """As pip does, which not every Python has."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path, mode = archive.extract(entry, folder), entry.external_attr >> 16 & 0o777
            if mode and not entry.is_dir():
                os.chmod(path, mode)


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


def medians_of_last(text, count):
    """Of each column of numbers separated by commas, over the last lines."""
    rows = [[int(word) for word in line.split(",")] for line in text.splitlines() if re.fullmatch(r"\d+(, *\d+)*", line.strip())]
    columns = zip(*[row for row in rows if len(row) == 2][-count:])
    return [sorted(column)[len(column) // 2] for column in columns] or [None, None]


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


def try_part(check, name, need, most, result):
    """Fills the result: "outcome" (ok, problem, left out, failed or stopped), "why", "seconds", and what the part found."""
    begin, others = time.monotonic(), list(check.running)
    check.end_of_part = begin + check.scale * most
    left = check.end - begin
    try:
        if left < need:
            raise LeftOut(f"{left:.0f} seconds were left, and it needs {need}")
        getattr(check, name)(result)
        result["outcome"] = "ok"
    except Problem as problem:
        result.update(outcome="problem", why=str(problem))
    except LeftOut as why:
        result.update(outcome="left out", why=str(why))
    except Exception:  # of the part's own: the others go on
        lines = traceback.format_exc().strip().splitlines()
        result.update(outcome="failed", why=lines[-1], where=lines[-3:-1])
    finally:
        for process in [process for process in check.running if process not in others]:
            check.kill(process)
        check.end_of_part = check.end
        result["seconds"] = round(time.monotonic() - begin, 1)


def parts_table(summary):
    rows = [("part", "outcome", "seconds", "")]
    rows += [(name, found["outcome"], str(found["seconds"]), found.get("why", "")) for name, found in summary.items()]
    widths = [max(len(row[c]) for row in rows) for c in range(3)]
    return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows)


def rates_of(summary, part, network):
    rates = summary.get(part, {}).get(network)
    return rates if isinstance(rates, dict) else {}


def speed_table(summary):
    """openset beside PyTorch, in training images a second, as Markdown; "" if nothing was measured. The ratio is to the best of
    eager, autocast and torch.compile in the same precision, without CUDA graphs of one's own."""
    lines = []
    for name, found in summary.get("speed", {}).items():
        if not isinstance(found, dict):
            continue
        network, _, precision = name.partition(" ")
        theirs = {variant[len(precision):].strip(" ,") or "eager": rate for part in ("pytorch", "pytorch_compiled")
                  for variant, rate in rates_of(summary, part, network).items()
                  if variant.startswith(precision) and "," not in precision}  # none augments
        peers = [rate for variant, rate in theirs.items() if isinstance(rate, int) and "graph" not in variant]
        own = found.get("openset")
        ratio = f"{own / max(peers):.2f}" if peers and isinstance(own, int) else "-"
        cells = [own, *(found.get(key) for key in ("openset, one CPU", "GPU busy, %", "GPU clock, MHz")),
                 ", ".join(f"{variant} {rate}" for variant, rate in theirs.items()), ratio]
        lines.append("| " + " | ".join([name, *(str("-" if cell in (None, "") else cell) for cell in cells)]) + " |")
    if not lines:
        return ""
    return "\n".join(["training images a second:", "",
                      "| network, precision | openset | one CPU | GPU busy, % | GPU clock, MHz | PyTorch | openset / best |",
                      "| --- | --- | --- | --- | --- | --- | --- |", *lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openset", help="the program; default: that of the installed package")
    parser.add_argument("--wheel", help="install this wheel in a temporary folder, and check its program")
    parser.add_argument("--worker", help="the program that trains; default: openset's own")
    parser.add_argument("--device", default="cuda:0", help="cuda:N or cpu; default: cuda:0")
    parser.add_argument("--seconds", type=float, default=DEFAULT_SECONDS, help=f"end after these; default: {DEFAULT_SECONDS}")
    parser.add_argument("--short", action="store_true", help="small sizes and few methods, to try the check itself")
    parser.add_argument("--parts", default="", help=f"only these, separated by commas: {', '.join(name for name, *_ in PARTS)}")
    parser.add_argument("--out", default="gpu_check", help="the folder for summary.json and log.txt; default: gpu_check")
    options = parser.parse_args()
    names = [name for name, *_ in PARTS]
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

    def write_summary():
        path = os.path.join(options.out, "summary.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(summary, file, indent=1)
        os.replace(path + ".new", path)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with contextlib.ExitStack() as cleaning:
        work = tempfile.mkdtemp(prefix="openset-gpu-check-")
        cleaning.callback(shutil.rmtree, work, ignore_errors=True)
        check = Check(options, work)
        compiling = None  # torch.compile fills its cache while nothing is timed
        try:
            for name, need, most in PARTS:
                if name not in wanted and name != "install":
                    continue
                if compiling is not None and names.index(name) >= names.index(TIMED):
                    needed = sum(need for later, need, _ in PARTS[names.index(TIMED):] if later in wanted)
                    check.finish(compiling, check.left() - needed)
                    compiling = None
                summary[name] = {"outcome": "stopped", "seconds": 0}
                write_summary()
                try_part(check, name, need, most, summary[name])
                write_summary()
                print(f"{name}: {summary[name]['outcome']} {summary[name].get('why', '')}".rstrip(), flush=True)
                if name == "install" and summary[name]["outcome"] != "ok":  # the other parts would only say so again
                    break
                if name == "install" and not check.is_short and "pytorch_compiled" in wanted and check.left() > 0:
                    compiling = check.start(["sh", "-c", "; ".join(
                        shlex.join(check.torch_words(network, "compile")) for network in NETWORKS)])
        except Stopped:
            write_summary()
        finally:
            for process in list(check.running):
                check.kill(process)
    print("\n" + parts_table(summary))
    print("\n".join(filter(None, [speed_table(summary), f"{options.out}/summary.json and log.txt have the rest."])))
    sys.exit(0 if all(found["outcome"] in ("ok", "left out") for found in summary.values()) else 1)


def stop(*_):
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise Stopped


if __name__ == "__main__":
    main()
