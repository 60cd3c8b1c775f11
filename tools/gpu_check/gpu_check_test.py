#!/usr/bin/env python3
"""Tries the check of a GPU on the CPU and on a simulated GPU, with the program of the build, and with workers that fail and
hang."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

WAIT, FAIL = "#!/bin/sh\nexec sleep 600\n", "#!/bin/sh\nexit 3\n"
# A worker takes 600 MiB. The device has another number here than in CUDA.
NVIDIA_SMI = """#!/bin/sh
test "$1" = --id=7 || exit 6
case "$2" in
*memory.used*)
  used=4
  for process in /proc/[0-9]*; do
    case "$(tr '\\0' ' ' < $process/cmdline)" in "$WORKER "*) used=$((used + 600));; esac
  done 2> /dev/null
  echo $used;;
*utilization.gpu*) while sleep 0.1; do echo 97, 1980; done;;
*) echo Simulated GPU, 580.1;;
esac
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))

    def start(self, *flags, program="--openset=tools/openset_unstamped", **environment):
        return subprocess.Popen([sys.executable, "tools/gpu_check", program, f"--out={self.folder}/out", *flags], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})

    def summary(self):
        with open(f"{self.folder}/out/summary.json", encoding="utf-8") as file:
            return json.load(file)

    def check(self, *flags, **more):
        """(exit code, output, summary) of the check."""
        process = self.start(*flags, **more)
        text, _ = process.communicate()
        try:
            return process.returncode, text, self.summary()
        except OSError:
            return process.returncode, text, {}

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def worker(self, script):
        return f"--worker={self.write('worker', script)}"

    def simulated_gpu(self):
        """What a process needs to see a GPU: a driver, PyTorch's CUDA library (of which the worker needs nothing), nvidia-smi."""
        os.makedirs(f"{self.folder}/lib")
        os.symlink(os.path.abspath("core/process/gpu/libfake_gpu_driver.so"), f"{self.folder}/lib/libcuda.so.1")
        self.write("torch/version.py", "__version__ = '2.11.0+cu130'\n")
        self.write("torch/lib/libtorch_cuda.so", "")
        self.write("bin/nvidia-smi", NVIDIA_SMI)
        worker = os.path.abspath("tools/testing/gpu/memory_gpu_worker")
        return f"--worker={worker}", {
            "LD_LIBRARY_PATH": f"{self.folder}/lib", "OPENSET_TORCH": f"{self.folder}/torch", "FAKE_GPUS": "Simulated GPU",
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "WORKER": worker, "CUDA_VISIBLE_DEVICES": "7"}

    def test_the_short_form_finds_no_problem_on_a_simulated_gpu(self):
        worker, environment = self.simulated_gpu()
        parts = ["quickstart", "repeat", "all_methods", "speed", "stop", "several", "kernel"]  # gpu_run_test has devices
        code, text, summary = self.check("--short", "--seconds=3000", worker, "--parts=" + ",".join(parts), **environment)
        self.assertEqual(code, 0, text + json.dumps(summary, indent=1))
        self.assertEqual({name: found["outcome"] for name, found in summary.items()}, dict.fromkeys(["install", *parts], "ok"))
        self.assertEqual(summary["install"]["GPU"], "Simulated GPU, 580.1")
        for precision in ("FP32", "TF32", "BF16"):
            self.assertEqual(summary["repeat"][precision], {"checkpoints": 2, "different": [], "equal": True})
            found = summary["speed"][f"osrci_cnn {precision}"]
            self.assertGreater(found["openset"], 0)
            self.assertEqual((found["GPU busy, %"], found["GPU clock, MHz"]), (97, 1980))
        self.assertGreater(summary["speed"]["osrci_cnn FP32"]["openset, one CPU"], 0)
        self.assertEqual(summary["all_methods"]["done on cuda:0"], "4 of 4")
        self.assertEqual((summary["stop"]["MiB before"], summary["stop"]["MiB in training"]), (4, 604))
        self.assertGreater(summary["several"]["seconds, four at a time"], 0)

    def test_it_says_what_it_found_when_it_is_stopped(self):
        process = self.start("--device=cpu", self.worker(WAIT), "--parts=devices,quickstart")
        while not any("devices --check" in line for line in self.commands()):
            self.assertIsNone(process.poll(), "it ended early")
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        text, _ = process.communicate()
        self.assertEqual(process.returncode, 1, text)
        self.assertEqual({name: found["outcome"] for name, found in self.summary().items()},
                         {"install": "ok", "devices": "stopped"}, text)
        self.assertRegex(text, "(?m)^devices +stopped")
        self.assertFalse([line for line in self.commands() if "devices --check" in line])

    def commands(self):
        """Those of this test's processes."""
        lines = []
        for process in os.listdir("/proc"):
            try:
                with open(f"/proc/{process}/cmdline", encoding="utf-8", errors="replace") as file:
                    lines.append(file.read().replace("\0", " "))
            except OSError:
                pass
        return [line for line in lines if self.folder in line]

    def test_a_wheel_needs_no_pip(self):
        path = f"{self.folder}/openset.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("openset/__init__.py", "")
            wheel.writestr("openset/__main__.py", "import os, subprocess, sys\n"
                           "sys.exit(subprocess.call([os.path.dirname(__file__) + '/program']))\n")
            program = zipfile.ZipInfo("openset/program")
            program.external_attr = 0o755 << 16
            wheel.writestr(program, "#!/bin/sh\necho openset 9.9\n")
        code, text, summary = self.check("--device=cpu", "--parts=install", program=f"--wheel={path}")
        self.assertEqual(code, 0, text)
        self.assertEqual(summary["install"]["openset"], ["openset 9.9"])

    def test_the_short_form_finds_no_problem(self):
        code, text, summary = self.check("--device=cpu", "--seconds=3000")
        self.assertEqual(code, 0, text)
        outcomes = {name: found["outcome"] for name, found in summary.items()}
        for name in ("memory", "several", "pytorch_compiled"):
            self.assertEqual(outcomes.pop(name), "left out")
        self.assertIn(outcomes.pop("pytorch"), ("ok", "left out"))  # this Python may have PyTorch
        self.assertEqual(outcomes, dict.fromkeys(
            ["install", "devices", "quickstart", "repeat", "all_methods", "speed", "stop", "kernel"], "ok"), text)
        self.assertRegex("\n".join(summary["devices"]["lines"]), "cpu +FP32 +choose +1 of 1")
        self.assertEqual(summary["quickstart"]["largest difference of accuracy"], 0)
        self.assertEqual(summary["repeat"]["FP32"], {"checkpoints": 2, "different": [], "equal": True})
        self.assertEqual(summary["all_methods"]["done on cpu"], "4 of 4")
        self.assertGreater(summary["speed"]["osrci_cnn FP32"]["openset"], 0)
        self.assertTrue(summary["stop"]["goes on from its state"])
        self.assertIn("part              outcome", text)
        self.assertRegex(text, r"\| osrci_cnn FP32 \| [0-9]+ \| - \| - \| - \|")

    def test_parts_fail_alone(self):
        code, text, summary = self.check("--device=cpu", self.worker(FAIL), "--parts=devices,quickstart,repeat,speed")
        self.assertEqual(code, 1, text)
        self.assertEqual([found["outcome"] for found in summary.values()], ["ok"] + 4 * ["problem"], text)
        self.assertIn("its worker", json.dumps(summary["devices"]))
        self.assertIn("actions failed", summary["quickstart"]["why"])
        self.assertRegex(summary["speed"]["osrci_cnn FP32"]["openset"], "the probe of osrci_cnn .* failed: .*its worker")

    def test_a_part_that_hangs_is_killed_and_what_has_no_time_is_left_out(self):
        code, text, summary = self.check("--device=cpu", self.worker(WAIT), "--parts=devices,quickstart", "--seconds=35")
        self.assertEqual(code, 1, text)
        self.assertEqual({name: found["outcome"] for name, found in summary.items()},
                         {"install": "ok", "devices": "problem", "quickstart": "left out"}, text)

    def test_wrong_arguments(self):
        for flags, said in ((["--parts=speed,fun"], "there is no part fun"), (["--device=gpu"], "'gpu' is not cpu or cuda:N"),
                            (["--wheel=x"], "can't be combined with --wheel"), (["--worker=/none"], "there is no file /none")):
            code, text, summary = self.check(*flags)
            self.assertEqual((code, summary), (2, {}))
            self.assertIn(said, text)

    def test_a_program_that_does_not_start_is_said_once(self):
        path = self.worker(FAIL).split("=")[1]
        code, text, summary = self.check("--device=cpu", program=f"--openset={path}")
        self.assertEqual((code, list(summary)), (1, ["install"]), text)
        self.assertIn("openset does not start", summary["install"]["why"])

    def test_a_file_that_is_no_wheel_is_refused(self):
        path = self.worker("").split("=")[1]
        done = subprocess.run([sys.executable, "tools/gpu_check", f"--wheel={path}"], stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not a wheel", done.stderr)

    def test_without_the_gpu_its_parts_have_problems(self):
        code, text, summary = self.check("--parts=devices")
        if "NVIDIA" in text:
            self.skipTest("there is one")
        self.assertEqual(code, 1, text)
        self.assertEqual(summary["devices"]["outcome"], "problem")
        self.assertIn("--devices", summary["devices"]["why"])


if __name__ == "__main__":
    unittest.main()
