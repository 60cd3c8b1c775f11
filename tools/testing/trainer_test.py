#!/usr/bin/env python3
"""Methods that another program trains (training.command).

What it gets, what is taken from it, and that it runs only with the user's permission. The program is Python without any
package.
"""
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, "tools/testing")
from arrays import f32, i64, u8  # noqa: E402
from program import ROOT, ProgramTest, main, shipped  # noqa: E402

# Nearest class mean: logits m_c . x - |m_c|^2 / 2, as the method nearest_mean has them.
TRAIN = f"""
import json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, {str(ROOT / "tools/testing")!r})
from arrays import f32, read_npz, write_npz

trial = json.load(open(os.environ["OPENSET_TRIAL"]))
train, classes = read_npz("train.npz"), len(trial["class_names"])
(n, d), x, label = train["features"].shape, train["features"].values, train["label"].values
means = []
for c in range(classes):
    rows = [i for i in range(n) if label[i] == c]
    means.append([sum(x[i * d + j] for i in rows) / len(rows) for j in range(d)])
    with open("progress.jsonl", "a") as file:
        file.write(json.dumps({{"epoch": c + 1, "epochs": classes, "loss": 1.0 / (c + 1)}}) + "\\n")
for part, out in (("test.npz", "outputs.npz"), ("train.npz", "fit.npz"), ("validation.npz", "validation_outputs.npz")):
    if os.path.exists(part):
        features = read_npz(part)["features"]
        (n, d), x = features.shape, features.values
        logits = [sum(m[j] * x[i * d + j] for j in range(d)) - sum(v * v for v in m) / 2
                  for i in range(n) for m in means]
        write_npz(out, {{"logits": f32(logits, n, classes), "features": features}})
"""
CHANGED = TRAIN + "# changed\n"

TASK = """
name: "cloud" data_set: "features:cloud.npz"
split { known: [0, 1, 2] }
unknown { group: "far" data_set: "features:cloud.npz" class_id: 3 part: "test" }
"""


def method(run="python3 train.py", score="max_softmax", source='source: "train.py"', epochs=""):
    return f"""
name: "mine" title: "Mine" reference: "own"
model {{ outputs {{}} }}
training {{ command {{ run: "{run}" {source} }} {epochs} }}
input {{}} inference {{ plain {{}} }} score {{ {score} {{}} }}
"""


def study(*methods, name="study", task="cloud.textproto", seeds="0", more=""):
    names = ", ".join(f'"{one}.textproto"' for one in methods or ("mine",))
    return (f'name: "{name}" question: "?" task: "{task}" method: [{names}] seed: {seeds}\n'
            f"metric {{ accuracy {{}} }} metric {{ auroc {{}} }} {more}\n")


def means_method(score="max_softmax"):
    """The same as a method of the program."""
    return f'base: "nearest_mean" title: "Means" reference: "own" score {{ {score} {{}} }}'


BOTH = study("means", "mine", seeds="[0, 1]")
ALLOWED = " --allow_commands --worker=/nowhere/worker"


def fill(program):
    """Writes a task of features, 60 samples of each of 4 classes, and a study with the method."""
    program.environment["HOME"] = str(program.folder)
    draw = random.Random(1)
    features = [draw.gauss(2.5 if axis == i % 4 else 0, 1) for i in range(240) for axis in range(5)]
    program.write_arrays("cloud.npz", features=f32(features, 240, 5), label=i64(i % 4 for i in range(240)))
    for name, text in (("cloud.textproto", TASK), ("train.py", TRAIN), ("study.textproto", BOTH),
                       ("means.textproto", means_method()), ("mine.textproto", method())):
        program.write(name, text)


def task_elsewhere(program):
    """A task in the library whose data set has an absolute path."""
    program.write("tasks/cloud.textproto", TASK.replace("features:", f"features:{program.folder}/"))


def start_time(pid):
    """When a process began, in ticks; None if it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class TrainerTest(ProgramTest):
    RUN = "run study.textproto --retries=0" + ALLOWED

    def setUp(self):
        super().setUp()
        fill(self.program)
        self.marker = self.program.path("it_ran")

    def write_method(self, *run_and_score):
        self.write("mine.textproto", method(*run_and_score))

    def assert_same_means(self, *metrics):
        means = self.program.means("study")
        self.assertEqual(means.keys(), {"mine", "means"})
        for metric in metrics:
            self.assertAlmostEqual(means["mine"][metric], means["means"][metric], delta=1e-6, msg=metric)
        return means

    # The program computes what the method nearest_mean computes, so the numbers are the same.
    def test_it_is_a_method_like_ours(self):
        self.out(self.RUN)
        means = self.assert_same_means("accuracy", "auroc")
        self.assertGreater(means["mine"]["accuracy"], 0.8)  # 3.5 standard deviations apart: about 8 % are confused
        self.says(self.out("compare study"), "mine")

        # The cache: nothing runs again, another score runs no training; a changed source or version is another one.
        self.says(self.out(self.RUN), "nothing to run")
        self.write_method("python3 train.py", "knn")
        self.says(self.out(self.RUN), "to run: 0 trainings")
        self.write("train.py", CHANGED)
        self.says(self.out(self.RUN), "to run: 2 trainings")
        self.says(self.out(self.RUN + " --methods=mine.textproto --set=training.command.version=2"),
                  "to run: 2 trainings")

    # The temperature is fitted to the outputs for the validation samples.
    def test_it_is_calibrated_on_its_validation_outputs(self):
        self.write_method("python3 train.py", "temperature_scaled_softmax")
        self.write("means.textproto", means_method("temperature_scaled_softmax"))
        self.write("study.textproto", BOTH + "metric { ece {} } validation_per_class: 10")
        self.out(self.RUN)
        self.assert_same_means("accuracy", "auroc", "ece")
        self.write_method("python3 train.py && rm validation_outputs.npz", "temperature_scaled_softmax")
        self.says(self.run_program(self.RUN).out, "training.command wrote no validation_outputs.npz")

    def test_what_is_wrong_with_the_program_is_said(self):
        for run, score, error in (
                ("echo the reason >&2; exit 3", "max_softmax", "exited with 3: the reason; log: "),
                ("true", "max_softmax", "ended without outputs.npz, the outputs for test.npz"),
                # Outputs of the wrong samples.
                ("python3 train.py && mv fit.npz outputs.npz", "max_softmax", "rows of logits for "),
                # A score that is fitted to what the program did not write.
                ("python3 train.py && rm fit.npz", "knn", "wrote no fit.npz")):
            self.write_method(run, score)
            self.says(self.fails(self.RUN, 1).printed, error)
        self.write("mine.textproto", "model { outputs {} } input {} inference { plain {} } score { max_softmax {} }")
        self.refused(self.RUN, "model.outputs.file: must be set, unless training.command writes the outputs")
        self.write_method()
        self.program.path("train.py").unlink()
        self.refused(self.RUN, "mine.textproto:4: training.command.source[0]", "no such file")

    # Only declared files are there.
    def test_it_runs_with_its_sources_alone(self):
        self.write("helper.py", "value = 1\n")
        self.write_method("python3 -c 'import helper' && python3 train.py")
        self.says(self.fails(self.RUN, 1).printed, "No module named 'helper'")
        for source in ("../outside.py", "/etc/passwd"):
            self.write("mine.textproto", method(score="max_logit", source=f'source: "{source}"'))
            self.refused(self.RUN, "must be a path below the folder of this file")

    def start_and_wait_for_marker(self):
        process = self.program.start("run study.textproto" + ALLOWED)
        while not self.marker.exists():
            self.assertIsNone(process.poll(), self.read("err.txt"))
            time.sleep(0.02)
        return process

    # Interrupted, it finds what it left in state/.
    def test_it_continues_from_its_state(self):
        self.write("study.textproto", study())
        self.write_method(f"if [ ! -e state/half ]; then touch state/half {self.marker}; sleep 1000; fi; echo again; "
                          "python3 train.py")
        process = self.start_and_wait_for_marker()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        self.out(self.RUN)
        # Nothing is left of its folder.
        self.assertEqual(os.listdir(self.program.store / "partial"), [])

    # openset, killed by SIGKILL, takes with it what the program has started.
    def test_it_ends_with_openset(self):
        self.write("study.textproto", study())
        self.write_method(f"sleep 1000 & echo $! > {self.marker}.new; mv {self.marker}.new {self.marker}; wait")
        process = self.start_and_wait_for_marker()
        sleeper = int(self.read("it_ran"))
        before = start_time(sleeper)
        self.assertIsNotNone(before)
        process.kill()
        process.wait()
        while start_time(sleeper) == before:  # without an end, it sleeps on, and this doesn't end either
            time.sleep(0.02)

    # The weights of a network, by a program that copies them, give what the same file gives as model.weights.
    def test_it_writes_the_weights_of_a_network(self):
        def network(name, model="", training=""):
            return f"""
name: "{name}" title: "{name}" reference: "own"
model {{ osrci_cnn {{ feature_dim: 4 }} head {{ linear {{}} }} {model} }}
{training}
input {{ size: 16 channels: 1 mean: 0.5 std: 0.25 }} inference {{ plain {{}} }} score {{ knn {{ k: 3 }} }}
"""

        def write_theirs(run, model=""):
            self.write("theirs.textproto", network("theirs", model, f"training {{ command {{ run: '{run}' "
                                                                    "source: 'w.safetensors' } }"))

        parts = "".join(f'part {{ name: "{part}" samples: 40 samples_per_class: 10 npz {{ '
                        f'images {{ path: "{part}.npz" }} }} }}\n' for part in ("train", "test"))
        self.write("catalog/tiny.textproto", 'name: "tiny" class_name: ["a", "b", "c", "d"] channels: 1 height: 16 '
                   f"width: 16\nlayout {{ {parts} }}")
        self.write("tiny_task.textproto", "name: 'tiny_task' data_set: 'tiny' split { known: [0, 1, 2] unknown: 3 }")
        draw = random.Random(1)
        for part in ("train", "test"):
            self.arrays(part + ".npz", images=u8((draw.randrange(256) for _ in range(40 * 256)), 40, 16, 16),
                        labels=i64(i % 4 for i in range(40)))
        folder = str(self.program.folder)
        self.program.environment.update(OPENSET_LIBRARY=folder, OPENSET_DATA=folder)
        self.write("w.safetensors", (ROOT / "models/testdata/osrci_cnn_parallel.safetensors").read_bytes())
        self.write("ours.textproto", network("ours", "weights { file: 'w.safetensors' }"))
        self.write("network.textproto", study("ours", "theirs", name="network", task="tiny_task.textproto"))
        run = "run network.textproto --allow_commands --retries=0"
        write_theirs("ls > files; cp w.safetensors checkpoint.safetensors; cp files ../../../files")
        self.out(run)
        means = self.program.means("network")
        self.assertEqual(means.keys(), {"ours", "theirs"})
        self.assertEqual(means["theirs"], means["ours"])
        # It gets no samples to test on: openset infers.
        self.says(self.read("files"), "train.npz")
        self.says_not(self.read("files"), "test.npz")

        for program, model, error in (
                ("true", "", "ended without checkpoint.safetensors or checkpoint.pth, the weights of the network"),
                ("cp trial.json checkpoint.safetensors", "", "training.command: "),
                ("true", "weights { file: 'w.safetensors' }", "model.weights: does not go with training.command")):
            write_theirs(program, model)
            self.says(self.run_program(run).printed, error)

    def test_it_runs_only_if_it_is_allowed(self):
        run = "run study.textproto"
        self.write_method(f"touch {self.marker}; python3 train.py")
        self.fails(run, 2, "mine: touch ", "--allow_commands")
        self.says(self.out("plan study.textproto"), "mine: touch ")
        self.assertFalse(self.marker.exists())
        self.refused(run + " --always_allow", "belongs to --allow_commands")

        # Remembered for the folder, in a file that others can't write.
        self.out(self.RUN + " --always_allow")
        self.assertTrue(self.marker.exists())
        self.write("train.py", CHANGED)
        self.out(run)
        remembered = self.program.path(".config/openset/command_folders")
        self.write("train.py", CHANGED + "# again\n")
        remembered.chmod(0o666)
        self.fails(run, 2)
        remembered.chmod(0o600)
        # Not for a method file in another folder.
        self.write("elsewhere/train.py", TRAIN + "# another\n")
        self.write("elsewhere/mine.textproto", self.read("mine.textproto"))
        self.write("study.textproto", study("means", "elsewhere/mine", seeds="[0, 1]"))
        self.fails(run, 2)
        # Its sources stay there if the study changes another field of the command.
        self.write("study.textproto", study("elsewhere/mine", more="override { training { command { version: 2 } } }"))
        self.out(self.RUN)

    # The program ends as a hang if it neither writes nor uses a CPU; the worker that waits for it does use one.
    def test_a_program_that_sleeps_hangs(self):
        self.write_method("sleep 600")
        self.write("deploy.textproto", "hang_seconds: 3")
        self.says(self.fails("run study.textproto --deploy=deploy.textproto --allow_commands --retries=0", 1).printed,
                  "its worker hung")

    # A second attempt finds what the first one left: in a later run if the program failed, in the same one if it hung.
    def test_it_is_tried_again(self):
        once = "if [ ! -e state/once ]; then touch state/once; {}; fi; python3 train.py"
        self.write("deploy.textproto", "hang_seconds: 3")
        self.write_method(once.format("sleep 600"))
        self.out(self.RUN + " --deploy=deploy.textproto --retries=1")
        self.assertEqual(len(self.program.records()), 4)
        self.write_method(once.format("echo no luck >&2; exit 1"))
        self.says(self.fails(self.RUN + " --retries=1", 1).printed, "exited with 1: no luck")
        self.out(self.RUN)

    # Each rung continues from the state of the one before: of three candidates two go on from epoch 1, one from 2.
    def test_it_continues_when_a_search_is_halved(self):
        epochs = f"""
share = float(trial["parameters"]["share"])
training, done = trial["method"]["training"], len(os.listdir("state"))
stop = training["stop_after_epochs"] or training["epochs"]
for epoch in range(done, stop):
    open("state/%d" % epoch, "w").close()
with open("{self.marker}", "a") as file:
    print(share, "from", done, "to", stop, file=file)
means = []"""
        # The larger the share of the mean, the better.
        self.write("train.py", TRAIN.replace("\nmeans = []", epochs).replace("m[j] * x", "share * m[j] * x"))
        self.write("mine.textproto", method(
            source="source: 'train.py' parameter { name: 'share' value: '1' }", epochs="epochs: 4"))
        self.write("study.textproto", study(more="""
validation_per_class: 10
search {
  method: "mine"
  axis { path: "training.command.parameter[0].value" value: ["'-1'", "'1'", "'0.5'"] }
  criterion { accuracy {} }
  halving { rungs: [1, 2, 4] keep: 0.5 }
}"""))
        self.out(self.RUN)
        # 1 is the method's own value, too.
        self.assertEqual(sorted(self.read("it_ran").splitlines()), [
            "-1.0 from 0 to 1", "0.5 from 0 to 1", "0.5 from 1 to 2", "1.0 from 0 to 1", "1.0 from 0 to 4",
            "1.0 from 1 to 2", "1.0 from 2 to 4"])

    # Slurm's commands are scripts: sbatch keeps the scripts of the jobs, which the test then runs as tasks of arrays.
    def test_it_runs_in_a_task_of_slurm(self):
        self.write("study.textproto", study(seeds="[0, 1]"))
        self.write_method(f"echo $SLURM_ARRAY_JOB_ID >> {self.marker}; python3 train.py")
        jobs = self.program.path("jobs")
        jobs.mkdir()
        for name, script in (("sbatch", f'for last; do :; done; cp "$last" {jobs}/$$.sh; echo 7'), ("squeue", "true"),
                             ("scontrol", "echo 'MaxArraySize = 1001'")):
            self.write(f"bin/{name}", f"#!/bin/sh\n{script}\n")
            self.program.path(f"bin/{name}").chmod(0o700)
        self.program.environment["PATH"] = f"{self.program.folder}/bin:{os.environ['PATH']}"
        self.write("cluster.textproto", "slurm { idle_seconds: 1 }")
        submit = "run study.textproto --engine=slurm --detach --deploy=cluster.textproto"
        self.fails(submit, 2, "--allow_commands")
        self.assertEqual(os.listdir(jobs), [])
        self.says(self.out(submit + " --allow_commands"), "submitted Slurm job 7: ")
        task = subprocess.run(
            ["bash", "-c", "for job in jobs/*.sh; do bash $job || exit; done"], cwd=self.program.folder,
            env={**os.environ, **self.program.environment, "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "0"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(task.returncode, 0, task.stdout)
        self.assertEqual(self.read("it_ran"), "7\n7\n", task.stdout)  # two seeds
        self.assertEqual(len(self.program.records()), 2)

    # A record says which files its trainer was, not where they were.
    def test_it_is_reproduced_from_its_sources(self):
        task_elsewhere(self.program)
        self.write("study.textproto", study(task="cloud"))
        self.out(self.RUN)
        trial, = self.program.records()
        self.says(self.program.must_run("records export --bundle=mine.zip").err,
                  "left out: the sources of mine: train.py (SHA-256 of all, as source_sha256: ")
        spec = self.out(f"records spec {trial}")
        self.says(spec, "# mine itself is in no library: ", '  name: "mine"\n',
                  "these files next to it: train.py (SHA-256")
        actions = [path.read_text() for path in self.program.store.glob("checkpoints/**/action.textproto")]
        self.assertEqual(len(actions), 1)
        for text in (spec, self.out(f"records show {trial}"), *actions):
            self.says(text, "train.py")
            self.says_not(text, "folder:")
        # The printed study makes it again, and has its name.
        self.write("again.textproto", spec)
        self.says(self.out("run again.textproto --store=second" + ALLOWED), "trained   mine on cloud")

        reproduce = f"reproduce {trial} {ALLOWED} --again="
        self.says(self.out(reproduce + "third"), "1 of 1 trial reproduced to the bit")
        self.write("train.py", CHANGED)
        self.fails(reproduce + "fourth", 2, "the command's sources are missing: train.py (SHA-256 of all",
                   "put them into the current folder", "those in ")
        self.write("library/methods/train.py", TRAIN)
        self.out(reproduce + "fifth --library=library")

    # The study of docs/trainers, and the method of the page that trains a network.
    def test_the_studies_of_the_page_are_planned(self):
        for name in ("study.textproto", "forest.textproto", "torch_softmax.textproto", "torch_doc.textproto",
                     "forest.py", "network.py"):
            self.write("trainers/" + name, shipped("docs/trainers/" + name))
        self.says(self.out("plan trainers/study.textproto --noprobe"), "48 trials", "torch_doc: python network.py",
                  "forest: python forest.py")
        page = shipped("docs/trainer.md")
        begin = page.index('    name: "mine"')
        text = page[begin:page.index("\n\n", begin)]
        self.says(text, "model { resnet_cifar")
        self.write("mine.textproto", text)
        self.write("network.textproto",
                   "name: 'network' question: '?' task: 'cifar10' method: 'mine.textproto' seed: 0 metric { auroc {} }")
        self.says(self.out("plan network.textproto --noprobe"), "mine: python train.py")

    # A stranger's records hold their commands, and no command of openset runs them.
    def test_a_strangers_bundle_runs_nothing(self):
        touch = f"touch {self.marker}"
        # In a library, so that the bundle has it, with a path that the victim can read.
        task_elsewhere(self.program)
        self.write("study.textproto", study("means", "mine", task="cloud", seeds="[0, 1]"))
        self.write("mine.textproto", method(f"{touch}; python3 {self.program.folder}/train.py", "max_logit", source=""))
        self.out(self.RUN)
        self.out("records export --bundle=stranger.zip")
        trial = self.out("records ls method=mine --format=csv").splitlines()[1][:12]
        self.marker.unlink()

        victim = self.another_program("victim")
        fill(victim)
        victim.write("stranger.zip", self.program.path("stranger.zip").read_bytes())
        # The victim allows the commands of its own folder.
        victim.must_run("run study.textproto --allow_commands --always_allow")
        victim.write("theirs/mine.textproto", self.read("mine.textproto"))
        victim.write("theirs/study.textproto", study(name="theirs", task="../cloud.textproto", seeds="[0, 1]"))
        victim.write("theirs/train.py", TRAIN)
        spec = victim.must_run(f"records spec stranger.zip {trial}").out
        self.says(spec, touch)
        victim.write("again.textproto", spec)
        # A study that the victim copied into its own folder: its method's command, with files of another folder.
        theirs = f"open('{self.marker}', 'w').close()\n{TRAIN}"
        victim.write("theirs/other/train.py", theirs)
        digest = hashlib.sha256(theirs.encode()).hexdigest()
        digest = hashlib.sha256(f"{digest} train.py\n".encode()).hexdigest()
        victim.write("copied.textproto", study(name="copied", seeds="[0, 1]", more=f"""
axis {{ path: 'training.command.folder' value: "'{victim.folder}/theirs/other'" }}
axis {{ path: 'training.command.source_sha256' value: "'{digest}'" }}"""))
        would_run = (  # and is refused for its command
            "reproduce stranger.zip --trials=0",  # all: the first one depends on the ids
            f"reproduce stranger.zip {trial}",
            "run theirs/study.textproto",
            "run theirs/study.textproto --store=theirs/store --redo=all",
            "run again.textproto",
            "run again.textproto --store=theirs/store",
            "run study.textproto --methods=theirs/mine.textproto",
            f"run study.textproto --store=other --methods=mine.textproto \"--set=training.command.run='{touch}'\"",
            "run copied.textproto",
            # What is allowed for a record is not remembered: the error lists the flags that there are.
            "reproduce stranger.zip --allow_commands --always_allow")
        only_reads = ("report stranger.zip", "compare stranger.zip", f"records show stranger.zip {trial}",
                      "records verify stranger.zip", "records merge stranger.zip --store=theirs/merged",
                      "plan theirs/study.textproto", "status theirs/study.textproto", "explain again.textproto")
        for command in would_run + only_reads:
            result = victim.run(command)
            self.assertFalse(self.marker.exists(), result)
            if command in would_run:
                self.assertEqual(result.code, 2, result)
                self.says(result.err, "--allow_commands")


if __name__ == "__main__":
    main()
