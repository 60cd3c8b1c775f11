#!/usr/bin/env python3
"""openset on a real Slurm, which the test starts. If that fails, the test is skipped with the reason."""
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, "tools/testing")
from program import PROGRAM, ROOT, SHORT_STUDY, ProgramTest, main, wait_for  # noqa: E402

SPEC = SHORT_STUDY + "seed: [0, 1, 2, 3]"
CONFIG = """
ClusterName=openset
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
SlurmdPort={next_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
KillWait=5
MaxArraySize=4
SchedulerParameters=sched_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} CPUs=2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class RealSlurm:
    """A cluster of one node, made of this machine's munged, slurmctld and slurmd (Debian: slurm-wlm, munge).

    Slurm's commands find it through the environment (SLURM_CONF).
    """

    def __init__(self):
        self.daemons = []
        for program in ("/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"):
            if not os.path.exists(program):
                raise unittest.SkipTest(f"{program} is not there (Debian: slurm-wlm, munge)")
        if os.getuid() != 0:
            raise unittest.SkipTest("slurmd starts as root only")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="openset-slurm-", dir="/tmp"))  # short, for sockets' names
        self.folder.chmod(0o755)
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir()
        munge, key = self.folder / "munge", self.folder / "munge/key"
        munge.chmod(0o700)
        key.write_text(1024 * "k")
        key.chmod(0o400)
        port = 20000 + os.getpid() % 20000
        config = self.folder / "slurm.conf"
        config.write_text(CONFIG.format(host=socket.gethostname(), folder=self.folder, port=port, next_port=port + 1))
        os.environ["SLURM_CONF"] = str(config)
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        wait_for(lambda: self.daemons[0].poll() is not None or (munge / "socket").exists())
        self.start("slurmctld", "-D", "-f", str(config))
        self.start("slurmd", "-D", "-f", str(config))
        for _ in range(100):
            nodes = printed("sinfo", "--noheader", "--format=%T")
            if nodes.startswith("idle"):
                return
            time.sleep(0.2)
        log = (self.folder / "daemons.log").read_text()
        self.stop()
        raise unittest.SkipTest(f"Slurm does not run here: its node did not become idle ({nodes}): {log}")

    def start(self, program, *flags):
        with open(self.folder / "daemons.log", "ab") as log:
            self.daemons.append(subprocess.Popen([f"/usr/sbin/{program}", *flags], stdout=log, stderr=log))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def printed(*words):
    """What a command prints; "" if it fails."""
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60).stdout


def empty_queue():
    queue = subprocess.run(["squeue", "--noheader"], stdout=subprocess.PIPE, text=True, timeout=60)
    return queue.returncode == 0 and queue.stdout == ""


def running_task():
    """The first task that runs: "JOB_INDEX"."""
    return printed("squeue", "--array", "--noheader", "--states=RUNNING", "--format=%F_%K").split("\n")[0]


class SlurmTest(ProgramTest):
    RUN = "run study.textproto --deploy=cluster.textproto"

    @classmethod
    def setUpClass(cls):
        slurm = RealSlurm()
        cls.addClassCleanup(slurm.stop)

    def setUp(self):
        super().setUp()
        self.write("study.textproto", SPEC)
        self.write("cluster.textproto", "engine: SLURM slurm { partition: 'main' poll_seconds: 1 idle_seconds: 3 }")

    def has_partial(self):
        return self.program.files("openset-store/partial")

    def has_records_of_a_local_run(self):
        local = self.another_program("local")
        local.write("study.textproto", SPEC)
        local.must_run("run study.textproto")
        records = self.program.records()
        self.assertEqual(len(records), 4)
        self.assertEqual(records, local.records())

    def elsewhere(self, command, deploy=""):
        """A command on the study from another folder."""
        study = f" {self.program.folder}/study.textproto --store={self.program.store} "
        return self.another_program("elsewhere").must_run(command + study + deploy).out

    def test_makes_the_records_of_a_local_run(self):
        self.says(self.out(self.RUN), "accuracy")
        self.has_records_of_a_local_run()
        wait_for(empty_queue)  # the tasks see that nothing is left

    def test_runs_the_program_that_was_submitted(self):
        built = self.program.path("built/program.runfiles")
        for folder, _, files in os.walk(ROOT.parent, followlinks=True):
            copy = built / pathlib.Path(folder).relative_to(ROOT.parent)
            copy.mkdir(parents=True)
            for name in files:
                source = os.path.realpath(os.path.join(folder, name))
                try:
                    os.link(source, copy / name)
                except OSError:  # another file system
                    shutil.copy(source, copy / name)
        environment = {name: value for name, value in os.environ.items() if name not in ("TEST_SRCDIR", "RUNFILES_DIR")}
        folder = self.program.folder
        subprocess.run([built / PROGRAM.relative_to(ROOT.parent), "run", f"{folder}/study.textproto",
                        f"--deploy={folder}/cluster.textproto", f"--store={self.program.store}", "--detach"],
                       env=environment, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(built)
        wait_for(empty_queue)
        self.has_records_of_a_local_run()
        program, = (self.program.store / "programs").iterdir()
        for stage in self.program.record(min(self.program.records()))["provenance"]["stage"]:
            name = "openset_unstamped" if stage["stage"] == "EVALUATE" else "openset_worker_unstamped"
            content = (program / "program.runfiles/openset/tools" / name).read_bytes()
            self.assertEqual(stage["program_sha256"], hashlib.sha256(content).hexdigest(), name)

    def test_survives_requeues_warnings_and_the_submitters_death(self):
        submitter = self.program.start(self.RUN)
        wait_for(self.has_partial)
        # The node is needed for something else.
        subprocess.run(["scontrol", "requeue", running_task()], check=True)
        submitter.kill()
        submitter.wait()
        self.says(self.elsewhere("status"), "Slurm job ")
        submitter = self.program.start(self.RUN)
        # The time of a task is nearly up: its training saves its state, and it is queued again.
        task = wait_for(lambda: self.has_partial() and running_task())
        subprocess.run(["scancel", "--batch", "--signal=USR1", task], check=True)
        self.ends(submitter, 0)
        self.has_records_of_a_local_run()

    def test_can_be_cancelled_and_continued_locally(self):
        self.out(self.RUN + " --detach")
        wait_for(self.has_partial)
        # The process that submits would submit tasks in the place of those that were cancelled.
        submitter = self.program.start(self.RUN)
        deploy = f"--deploy={self.program.folder}/cluster.textproto"
        wait_for(lambda: f", process {submitter.pid}" in self.elsewhere("status", deploy))
        self.says(self.elsewhere("cancel", deploy), "asked to stop", "cancelled")
        self.ends(submitter, 130)
        wait_for(empty_queue)
        self.out("run study.textproto")
        self.has_records_of_a_local_run()


if __name__ == "__main__":
    main()
