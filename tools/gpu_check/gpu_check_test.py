#!/usr/bin/env python3
"""Tries the check of a GPU on the CPU, with the program of the build, and with workers that fail and hang."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

WAIT, FAIL = "#!/bin/sh\nexec sleep 600\n", "#!/bin/sh\nexit 3\n"


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))

    def check(self, *flags):
        """(exit code, output, summary) of the check on the CPU."""
        out = os.path.join(self.folder, "out")
        done = subprocess.run([sys.executable, "tools/gpu_check", "--openset=tools/openset_unstamped", f"--out={out}", *flags],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
                return done.returncode, done.stdout, json.load(file)
        except OSError:
            return done.returncode, done.stdout, {}

    def worker(self, script):
        path = os.path.join(self.folder, "worker")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        os.chmod(path, 0o755)
        return f"--worker={path}"

    def test_the_short_form_finds_no_problem(self):
        code, text, summary = self.check("--device=cpu", "--seconds=600")
        self.assertEqual(code, 0, text)
        outcomes = {name: found["outcome"] for name, found in summary.items()}
        for name in ("memory", "several", "pytorch_compiled"):
            self.assertEqual(outcomes.pop(name), "left out")
        self.assertIn(outcomes.pop("pytorch"), ("ok", "left out"))  # this Python may have PyTorch
        self.assertEqual(outcomes, dict.fromkeys(
            ["install", "devices", "quickstart", "repeat", "all_methods", "speed", "stop", "kernel"], "ok"), text)
        self.assertRegex("\n".join(summary["devices"]["lines"]), "cpu +FP32 +choose +1 of 1")
        self.assertEqual(summary["quickstart"]["largest difference of accuracy"], 0)
        self.assertEqual(summary["repeat"]["FP32"], {"checkpoints": 2, "different": []})
        self.assertEqual(summary["all_methods"]["done on cpu"], "4 of 4")
        self.assertGreater(summary["speed"]["osrci_cnn FP32"]["openset"], 0)
        self.assertTrue(summary["stop"]["goes on from its state"])
        self.assertIn("part              outcome", text)
        self.assertRegex(text, "osrci_cnn FP32: openset [0-9]+")

    def test_parts_fail_alone(self):
        code, text, summary = self.check("--device=cpu", self.worker(FAIL), "--parts=devices,quickstart,repeat,speed")
        self.assertEqual(code, 1, text)
        self.assertEqual([found["outcome"] for found in summary.values()], ["ok"] + 4 * ["problem"], text)
        self.assertIn("its worker", json.dumps(summary["devices"]))
        self.assertIn("actions failed", summary["quickstart"]["why"])

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
        code, text, summary = self.check("--device=cpu", f"--openset={path}")
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
