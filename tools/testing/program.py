"""Tests that run the `openset` program as its users do: a unittest.TestCase for each subject.

    class EvalTest(ProgramTest):
        def test_auroc(self):
            self.write("scores.csv", SCORES)
            self.assertEqual(self.json("eval scores.csv --metrics=auroc")["metrics"]["auroc"]["value"], 0.625)
            self.refused("eval nowhere.csv", "nowhere.csv: No such file")

    if __name__ == "__main__":
        main()

Each test has a folder of its own, in which the program runs: a library of specs in addition to the one that comes with
the program, with the store openset-store. A command is a line as in a shell (quotes, no expansion), or a list of words.
Tests run in the folder of their runfiles, with Python's standard library alone.
"""
import fcntl
import hashlib
import json
import os
import pathlib
import pty
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
import time
import typing
import unittest
from xml.etree import ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, "tools/testing")
from arrays import write_npz  # noqa: E402

ROOT = pathlib.Path.cwd()  # of the runfiles, or of a source tree with a built program
PROGRAM = ROOT / "tools/openset_unstamped"
LONGEST_SECONDS = 0.9 * float(os.environ.get("TEST_TIMEOUT", 300))  # before Bazel ends the test without a word
TEMPORARY = pathlib.Path(os.environ.get("TEST_TMPDIR") or tempfile.mkdtemp())

# A study of two trials that takes about a second.
SMALL_STUDY = """
name: "study" task: "fashion_mnist_6_4" method: ["softmax", "mcp"] split: 0 seed: 0
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  training { epochs: 1 batch_size: 64 optimizer { learning_rate: 0.02 sgd {} } schedule { constant {} } }
}
train_limit_per_class: 20 test_limit_per_class: 10
metric { accuracy {} } metric { auroc {} }
"""

# A study without its seeds. A trial takes a second or some on one core.
SHORT_STUDY = """
name: "study" task: "fashion_mnist_6_4" method: "softmax" split: 0
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training {
    epochs: 4 batch_size: 100 optimizer { learning_rate: 0.02 sgd { nesterov: true } } schedule { constant {} }
  }
}
train_limit_per_class: 200 test_limit_per_class: 50
metric { accuracy {} } metric { auroc {} }
"""

# A study that takes seconds, with two groups of unknown samples, one near and one far: two trainings of a second each,
# with two scores. It needs the task below.
NEAR_FAR_TASK = """
name: "near_far" data_set: "fashion_mnist"
unknown { group: "near" data_set: "fashion_mnist" distance: NEAR class_id: [3, 4] }
unknown { group: "noise" data_set: "uniform_noise" distance: FAR draw_samples: 50 }
split { known: [0, 1, 2, 5] }
"""
NEAR_FAR_STUDY = """
name: "study" task: "near_far" method: ["mcp", "max_logit"] split: 0 seed: [0, 1]
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training { epochs: 1 batch_size: 50 optimizer { learning_rate: 0.02 } schedule { constant {} } }
}
train_limit_per_class: 100 test_limit_per_class: 50
metric { accuracy {} } metric { auroc {} } metric { aurc {} }
"""


class Result(typing.NamedTuple):
    """How a command ended. code: its exit code, or minus the signal that ended it."""
    command: str
    code: int
    out: str
    err: str

    @property
    def printed(self):
        return self.out + self.err

    def __str__(self):
        return f"openset {self.command}: exit code {self.code}\n{self.out}{self.err}"


def words_of(command):
    return shlex.split(command) if isinstance(command, str) else [str(word) for word in command]


class Program:
    """The program, run in a folder of the test."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.store = self.folder / "openset-store"
        self.environment = {}  # of each command, in addition to the test's

    def path(self, name):
        return self.folder / name

    def write(self, name, content):
        """Writes a file of text or bytes, and the folders that it needs."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def write_arrays(self, name, **arrays):
        """Writes a file NAME.npz of the arrays (arrays.py)."""
        write_npz(self.path(name), arrays)

    def read(self, name):
        """The text of a file; "" if there is none."""
        path = self.path(name)
        return path.read_bytes().decode(errors="surrogateescape") if path.is_file() else ""

    def write_near_far_study(self):
        self.write("tasks/near_far.textproto", NEAR_FAR_TASK)
        self.write("study.textproto", NEAR_FAR_STUDY)

    def write_external_images(self):
        """The data set "gradients" of coloured images, and the task "fashion_and_gradients".

        The task is fashion_mnist_6_4 with these as external images instead of CIFAR-10, which no test may rely on. For
        `run ... --data=data`.
        """
        parts = {"train": 1000, "test": 200}
        layout = "".join(f'part {{ name: "{part}" samples: {n} samples_per_class: {n // 2} cifar_binary {{ file {{ path: '
                         f'"gradients/{part}.bin" }} }} }}\n' for part, n in parts.items())
        self.write("data/catalog/gradients.textproto", 'name: "gradients" class_name: ["some", "others"]\n'
                   f"channels: 3 height: 32 width: 32\nlayout {{ {layout} }}\n")
        task = shipped("data/tasks/fashion_mnist_6_4.textproto")
        for old, new in (('data_set: "cifar10"', 'data_set: "gradients"'),
                         ('name: "fashion_mnist_6_4"', 'name: "fashion_and_gradients"')):
            assert task.count(old) == 1, old
            task = task.replace(old, new)
        self.write("data/tasks/fashion_and_gradients.textproto", task)
        for part, n in parts.items():
            draw = random.Random(part)
            pixels = bytearray()
            for i in range(n):
                pixels.append(i % 2)
                for _ in range(3):  # from one value at the top left to others at the right and at the bottom, with noise
                    start, right, down = draw.uniform(40, 216), draw.uniform(-40, 40), draw.uniform(-40, 40)
                    noise = draw.choices(range(-20, 21), k=32)
                    pixels += bytes(min(max(int(start + (right * x + down * y) / 32 + noise[(x + 5 * y) % 32]), 0), 255)
                                    for y in range(32) for x in range(32))
            self.write(f"data/gradients/{part}.bin", bytes(pixels))

    def start(self, command, **options):
        """Starts it in a process group of its own, with its output in out.txt and err.txt. `options`: of Popen()."""
        with open(self.path("out.txt"), "wb") as out, open(self.path("err.txt"), "wb") as err:
            return subprocess.Popen([PROGRAM, *words_of(command)], **{
                "cwd": self.folder, "env": self._environment(), "stdin": subprocess.DEVNULL, "stdout": out, "stderr": err,
                "start_new_session": True, **options})

    def run(self, command, **options):
        process = self.start(command, **options)
        try:
            code = process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"openset {command}: hangs\n{self.read('out.txt')}{self.read('err.txt')}") from None
        return Result(shlex.join(words_of(command)), code, self.read("out.txt"), self.read("err.txt"))

    def must_run(self, command, **options):
        result = self.run(command, **options)
        assert result.code == 0, str(result)
        return result

    def start_on_terminal(self, command, columns=0):
        """Starts it on a terminal of its own: (pid, the other side). columns: its width; 0: unknown to the program."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            if columns:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execve(PROGRAM, [str(PROGRAM), *words_of(command)], self._environment())
        return pid, terminal

    def run_on_terminal(self, command, columns, typed=""):
        """`out` is everything that the terminal receives."""
        pid, terminal = self.start_on_terminal(command, columns)
        os.write(terminal, typed.encode())
        received = b""
        try:
            while part := os.read(terminal, 4096):
                received += part
        except OSError:  # EIO at the end
            pass
        os.close(terminal)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return Result(shlex.join(words_of(command)), code, received.decode(errors="surrogateescape"), "")

    def run_with_kills(self, command, seed, by=signal.SIGKILL):
        """Starts it and sends it the signal at drawn times until one attempt ends by itself, which must succeed.

        Workers end with it. The times grow, so that this ends on a slow machine too. Returns the number of signals.
        """
        draw = random.Random(seed)
        for kills in range(40):
            process = self.start(command)
            try:
                code = process.wait(draw.uniform(0, 1.3**kills))
                assert code == 0, self.read("out.txt") + self.read("err.txt")
                return kills
            except subprocess.TimeoutExpired:
                process.send_signal(by)
                process.wait()
        raise AssertionError("it never ended by itself")

    def files(self, name):
        """The paths of all files below a folder, in order; none if there is no such folder."""
        return sorted(path for path in self.path(name).rglob("*") if path.is_file())

    def report(self, study, store="openset-store"):
        """The last report on the study that a run has written."""
        return json.loads(self.read(f"{store}/reports/{study}/report.json"))

    def record(self, trial):
        """A record of the store, as `records show` prints it: 64-bit integers are texts."""
        return json.loads(self.must_run(f"records show {trial} --format=json").out)

    def means(self, study):
        """{method: {metric: mean}} of the last report on the study, for the pool of all unknown samples."""
        means = {}
        for cell in self.report(study)["cells"]:
            if cell["n"] >= 1 and cell.get("group", "pool") == "pool":
                means.setdefault(cell["method"], {})[cell["metric"]] = cell["mean"]
        return means

    def shown_records(self):
        """What `records show` prints of each record in the store, as JSON."""
        return [json.loads(self.must_run(f"records show {path.stem} --format=json").out)
                for path in sorted(self.store.glob("records/*/*.rec"))]

    def outputs_of(self, record):
        """The file of the outputs that a shown record measures."""
        key = record["outputs_key"]
        return self.store / "outputs" / key[:2] / key / "outputs.npz"

    def records(self):
        """{trial id: the bytes of its record in the store, without the provenance, which differs between runs}."""
        return {path.stem: without_field(payload_of(path), PROVENANCE)
                for path in sorted(self.store.glob("records/*/*.rec"))}

    def _environment(self):
        environment = {**os.environ, "RUNFILES_DIR": str(ROOT.parent), **self.environment}
        environment.pop("BUILD_WORKING_DIRECTORY", None)
        return environment


class ProgramTest(unittest.TestCase):
    """A test with a program; what follows is what tests say most often."""
    maxDiff = None

    def setUp(self):
        self.program = Program(TEMPORARY / self.id().replace("__main__.", ""))

    def another_program(self, name):
        return Program(f"{self.program.folder}.{name}")

    def write(self, name, content):
        self.program.write(name, content)

    def arrays(self, name, **arrays):
        """Writes a file NAME.npz of the arrays (arrays.py)."""
        self.program.write_arrays(name, **arrays)

    def read(self, name):
        return self.program.read(name)

    def run_program(self, command):
        return self.program.run(command)

    def out(self, command):
        """The standard output of a command that must succeed."""
        result = self.program.run(command)
        self.assertEqual(result.code, 0, result)
        return result.out

    def json(self, command):
        """What `command --format=json` prints."""
        return json.loads(self.out([*words_of(command), "--format=json"]))

    def values(self, command):
        """{metric: value} of an `eval` command, for the pool of all unknown samples."""
        return {name: metric["value"] for name, metric in self.json(command)["metrics"].items()}

    def says(self, text, *parts):
        for part in parts:
            self.assertIn(part, text)

    def says_not(self, text, *parts):
        for part in parts:
            self.assertNotIn(part, text)

    def refused(self, command, *parts):
        """The command must end with 2, print nothing, and say these parts in one line on standard error: that line."""
        result = self.program.run(command)
        self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), result)
        self.says(result.err, *parts)
        return result.err

    def ends(self, process, code):
        """The process of the program, started with start(), must end with this code."""
        self.assertEqual(process.wait(), code, self.read("out.txt") + self.read("err.txt"))

    def fails(self, command, code, *parts):
        """The command must end with this code and say these parts on standard error."""
        result = self.program.run(command)
        self.assertEqual(result.code, code, result)
        self.says(result.err, *parts)
        return result


def blocks_of(name):
    """The blocks of code of a document that comes with the program: indented lines between others."""
    return [textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n)+", shipped(name), re.MULTILINE)]


def shipped(name):
    """The text of a file that comes with the program: "data/catalog/mnist.textproto"."""
    return (ROOT / name).read_text()


# Record files (core/proto/record_file.h) and the wire format of protocol buffers, as far as tests need them.

PROVENANCE = 11  # TrialRecord.provenance


def changed_record(record_file, *changes, kind="TrialRecord"):
    """The bytes of a record file ("": of an empty message) after changes: "PATH VALUE" sets a field.

    The test needs //tools/testing/hostile:hostile_tool, which describes the changes.
    """
    return subprocess.run([ROOT / "tools/testing/hostile/hostile_tool", "change", kind, record_file], check=True,
                          input="".join(change + "\n" for change in changes).encode(), stdout=subprocess.PIPE).stdout


def payload_of(record_file):
    """The message in a record file: it follows a line, its length, and the SHA-256 of both."""
    _, content = pathlib.Path(record_file).read_bytes().split(b"\n", 1)
    length, digest, payload = content[:8], content[8:40], content[40:]
    assert hashlib.sha256(length + payload).digest() == digest, f"{record_file} is corrupt"
    return payload


def without_field(message, number):
    """The message without the fields of this number."""
    kept, at = b"", 0

    def varint(at):
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value, at

    while at < len(message):
        begin = at
        tag, at = varint(at)
        kind = tag & 7
        if kind in (0, 2):
            value, at = varint(at)
            at += value if kind == 2 else 0
        else:
            at += {1: 8, 5: 4}[kind]
        if tag >> 3 != number:
            kept += message[begin:at]
    return kept


def times(often, seldom):
    """`often` if the environment has OPENSET_FAULTS=long (core/testing/fault_rounds.h), otherwise `seldom`."""
    return often if os.environ.get("OPENSET_FAULTS") == "long" else seldom


def wait_for(condition):
    """Waits until the condition holds, and returns its value."""
    for _ in range(60000):
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError("it did not come true in ten minutes")


def children_of(pid):
    """The processes that a running process has started, from /proc."""
    children = []
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            if re.search(rf"^PPid:\t{pid}$", status.read_text(errors="replace"), re.MULTILINE):
                children.append(int(status.parent.name))
        except OSError:  # it has ended
            pass
    return children


def flip_bit(path):
    """In the middle of a file."""
    content = bytearray(pathlib.Path(path).read_bytes())
    content[len(content) // 2] ^= 4
    pathlib.Path(path).write_bytes(content)


class _Times(unittest.TextTestResult):
    """Also keeps each case's time, for the file that Bazel and .ci/run read."""

    def startTest(self, test):
        self.begun = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.cases = getattr(self, "cases", []) + [(test, time.monotonic() - self.begun)]
        super().stopTest(test)


def main():
    """Runs the tests of the calling file: those of Bazel's shard and --test_filter. Writes test.xml."""
    if "TEST_SHARD_STATUS_FILE" in os.environ:
        open(os.environ["TEST_SHARD_STATUS_FILE"], "w").close()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # programs under test inherit it: nohup ignores it
    loader = unittest.TestLoader()
    if chosen := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        loader.testNamePatterns = [f"*{chosen}*"]
    cases = [case for some in loader.loadTestsFromModule(sys.modules["__main__"]) for case in some]
    shard, shards = int(os.environ.get("TEST_SHARD_INDEX", 0)), int(os.environ.get("TEST_TOTAL_SHARDS", 1))
    result = unittest.TextTestRunner(resultclass=_Times, verbosity=2).run(unittest.TestSuite(cases[shard::shards]))
    if output := os.environ.get("XML_OUTPUT_FILE"):
        suite = ElementTree.Element("testsuite", name=sys.argv[0], tests=str(result.testsRun))
        wrong = {test.id(): text for test, text in result.failures + result.errors}
        wrong.update({test.test_case.id(): text for test, text in list(wrong.items()) if hasattr(test, "test_case")})
        for test, seconds in getattr(result, "cases", []):
            case = ElementTree.SubElement(suite, "testcase", classname=type(test).__name__, name=test._testMethodName,
                                          time=f"{seconds:.3f}")
            if test.id() in wrong:
                ElementTree.SubElement(case, "failure").text = wrong[test.id()]
        for test, text in result.skipped:  # of a whole class: "setUpClass (...)"
            name = getattr(test, "_testMethodName", test.id())
            case = next((case for case in suite if case.get("name") == name), None)
            case = ElementTree.SubElement(suite, "testcase", name=name) if case is None else case
            ElementTree.SubElement(case, "skipped")
        ElementTree.ElementTree(suite).write(output)
    sys.exit(not result.wasSuccessful())
