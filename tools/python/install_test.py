"""Tests the wheel as users install it: install_test.py WHEEL ARCHIVE API_TEST STORE [--train], by
//tools/python:install_test.

Installs it into a new environment with NumPy and pandas (from the package index), and tries the command, the functions
(API_TEST is api_test.py, with store_test.py, which reads STORE, and torch_test.py next to it) and their types. --train
also installs PyTorch, and trains the quickstart for one epoch (OPENSET_DATA must name a folder that has Fashion-MNIST).
At the end it uninstalls it; nothing may be left.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv

WHEEL, ARCHIVE, API_TEST, STORE = (os.path.abspath(path) for path in sys.argv[1:5])
TRAIN = "--train" in sys.argv[5:]
HERE = tempfile.TemporaryDirectory(prefix="openset-install-")
ENVIRONMENT = os.path.join(HERE.name, "venv")
SCRIPTS = os.path.join(ENVIRONMENT, "bin")


# The installed program would look for its files where Bazel has this test's.
OURS = {name: value for name, value in os.environ.items() if name not in ("TEST_SRCDIR", "RUNFILES_DIR")}


def store_without_links():
    """A copy of STORE, whose files Bazel gives as links, which openset doesn't follow in a store."""
    copy = os.path.join(HERE.name, "store")
    if not os.path.exists(copy):
        shutil.copytree(STORE, copy)
    return copy


def run(*words, code=0, cwd=HERE.name, **environment):
    done = subprocess.run(words, cwd=cwd, env={**OURS, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout + done.stderr


def run_function_tests(*flags):
    """In a folder that has no `openset`: the installed package is tested."""
    for name in ("api_test.py", "store_test.py", "torch_test.py"):
        shutil.copy(os.path.join(os.path.dirname(API_TEST), name), HERE.name)
    python = f"{SCRIPTS}/python"
    return [run(python, "api_test.py", f"{SCRIPTS}/openset", *flags), run(python, "store_test.py", store_without_links()),
            run(python, "torch_test.py", OPENSET_PAGES=str(pathlib.Path(API_TEST).parents[2] / "docs"))]


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        venv.create(ENVIRONMENT, with_pip=True)
        run(f"{SCRIPTS}/pip", "install", "--quiet", "--no-deps", WHEEL)

    def test_1_the_command_needs_nothing_else(self):
        self.assertRegex(run(f"{SCRIPTS}/openset", "--version"), r"^openset \d+\.\d+\.\d+(-dev)?, commit ")
        self.assertIn("max_logit", run(f"{SCRIPTS}/python", "-m", "openset", "list", "scores"))
        pathlib.Path(HERE.name, "scores.csv").write_text("label,prediction,unknown_score\n0,0,1\n0,0,2\n-1,0,3\n")
        found = json.loads(run(f"{SCRIPTS}/openset", "eval", "scores.csv", "--format=json", "--metrics=auroc"))
        self.assertEqual(found["metrics"]["auroc"]["value"], 1)
        self.assertIn("20 trials", run(f"{SCRIPTS}/openset", "plan", "quickstart", "--noprobe"))

    def test_1_a_closed_pipe_ends_it_without_a_message(self):
        """`openset list | head -1`: the entry point is Python, which ignores SIGPIPE."""
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([f"{SCRIPTS}/openset", "list"], stdout=writer, stderr=subprocess.PIPE, env=OURS, check=False)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))

    def test_2_without_pytorch_a_run_says_what_to_install(self):
        if not os.environ.get("OPENSET_DATA"):
            self.skipTest("OPENSET_DATA names no folder with Fashion-MNIST")
        said = run(f"{SCRIPTS}/openset", "run", "quickstart", code=2)
        self.assertRegex(said, r"training needs PyTorch 2\.11 \(or 2\.12\); \S+ has none: \S+ -m pip install 'torch==2\.11\.\*'")

    def test_2_nothing_in_the_current_folder_runs(self):
        here = pathlib.Path(HERE.name, "hostile")
        here.mkdir()
        for name in ("random", "re", "types", "os", "json", "importlib", "torch", "numpy", "vl_convert", "openset"):
            (here / f"{name}.py").write_text("open('ran', 'w')\nraise SystemExit(3)\n")
        (here / "scores.csv").write_text("label,prediction,unknown_score\n0,0,1\n0,0,2\n-1,0,3\n")
        run(f"{SCRIPTS}/openset", "--version", cwd=here)
        run(f"{SCRIPTS}/openset", "plan", "quickstart", cwd=here)
        # Figures need a package that is not installed here, so that this may fail.
        subprocess.run([f"{SCRIPTS}/openset", "eval", "scores.csv", "--curves=curves"], cwd=here, env=OURS, check=False,
                       capture_output=True)
        if os.environ.get("OPENSET_DATA"):
            self.assertIn("training needs PyTorch", run(f"{SCRIPTS}/openset", "run", "quickstart", cwd=here, code=2))
        self.assertFalse((here / "ran").exists())

    def test_3_the_functions(self):
        run(f"{SCRIPTS}/pip", "install", "--quiet", "numpy", "pandas", "protobuf", "pyarrow", "scikit-learn")
        for said in run_function_tests("--calls=1000" if TRAIN else "--calls=40"):
            self.assertRegex(said, r"Ran \d+ tests?")

    def test_3_outputs_and_features_need_no_pytorch(self):
        run(f"{SCRIPTS}/pip", "install", "--quiet", "numpy")
        here = pathlib.Path(HERE.name, "arrays")
        here.mkdir()
        pathlib.Path(here, "make.py").write_text(
            "import numpy\n"
            "random = numpy.random.default_rng(0)\n"
            "for name, known, unknown in (('net', 120, 60), ('fit', 90, 0), ('validation', 60, 30)):\n"
            "    label = numpy.where(numpy.arange(known + unknown) < known, numpy.arange(known + unknown) % 3, -1)\n"
            "    features = random.normal(size=(len(label), 5)) + 3 * numpy.eye(4, 5)[label]\n"
            "    numpy.savez(f'{name}.npz', features=features, logits=features[:, :3], label=label)\n")
        run(f"{SCRIPTS}/python", "-c", "import importlib.util as u; assert u.find_spec('torch') is None")
        run(f"{SCRIPTS}/python", "make.py", cwd=here)
        said = run(f"{SCRIPTS}/openset", "score", "--model=net.npz", "--fit=fit.npz", "--methods=mcp,knn", cwd=here)
        self.assertIn("AUROC", said)
        pathlib.Path(here, "task.textproto").write_text(
            "name: 'task' data_set: 'features:net.npz' split { known: [0, 1, 2] }"
            "unknown { group: 'unknown' data_set: 'features:net.npz' part: 'unknown' }")
        pathlib.Path(here, "study.textproto").write_text(
            "name: 'study' task: 'task.textproto' method: ['logistic_regression', 'nearest_mean'] seed: 0"
            " metric { accuracy {} } metric { auroc {} }")
        said = run(f"{SCRIPTS}/openset", "run", "study.textproto", cwd=here)
        self.assertIn("nearest_mean", said)

    def test_3_types(self):
        run(f"{SCRIPTS}/pip", "install", "--quiet", "mypy", "numpy")
        run(f"{SCRIPTS}/python", "-m", "mypy", "--strict", "--ignore-missing-imports", "--allow-subclassing-any",
            "--cache-dir=mypy", "-p", "openset")

    def test_4_training(self):
        if not TRAIN:
            self.skipTest("without --train")
        run(f"{SCRIPTS}/pip", "install", "--quiet", f"{WHEEL}[train]")
        text = run(f"{SCRIPTS}/openset", "run", "quickstart", "--set", "training.epochs=1")
        self.assertIn("AUROC", text)

    def test_4_training_and_the_notebooks(self):
        if not TRAIN:
            self.skipTest("without --train")
        run(f"{SCRIPTS}/pip", "install", "--quiet", "nbclient", "nbformat", "ipykernel", "pandas")
        folder = pathlib.Path(API_TEST).parents[2] / "docs" / "notebooks"
        notebooks = sorted(map(str, folder.glob("*.ipynb")))
        self.assertEqual(len(notebooks), 2)
        said = run(f"{SCRIPTS}/python", os.path.join(os.path.dirname(API_TEST), "notebook_test.py"), *notebooks)
        self.assertIn("own_network.ipynb: ", said)

    def test_5_other_libraries(self):
        if not TRAIN:
            self.skipTest("without --train")
        run(f"{SCRIPTS}/pip", "install", "--quiet", "torchmetrics", "lightning", "timm", "transformers",
            "onnx", "onnxruntime")
        for said in run_function_tests():
            self.assertNotIn("skipped", said)

    def test_5_the_archive_runs_from_wherever_it_lies(self):
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(HERE.name)
        folder = next(pathlib.Path(HERE.name).glob("openset-*/bin")).parent
        moved = folder.rename(pathlib.Path(HERE.name, "some where else"))
        link = pathlib.Path(HERE.name, "openset-link")
        link.symlink_to(moved / "bin" / "openset")
        self.assertIn("max_logit", run(str(link), "list", "scores"))

    def test_6_uninstalling_leaves_nothing(self):
        environment = os.path.join(HERE.name, "clean")
        venv.create(environment, with_pip=True)
        before = {str(path) for path in pathlib.Path(environment).rglob("*")}
        run(f"{environment}/bin/pip", "install", "--quiet", "--no-deps", "--no-compile", WHEEL)
        run(f"{environment}/bin/openset", "list", "scores")
        run(f"{environment}/bin/pip", "uninstall", "--quiet", "--yes", "openset")
        left = [str(path) for path in pathlib.Path(environment).rglob("*")
                if str(path) not in before and "__pycache__" not in str(path)]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
