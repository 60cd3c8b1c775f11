#!/usr/bin/env python3
"""Machines, disks and workers that fail while openset runs, and data that changes meanwhile."""
import contextlib
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import sys
import time

sys.path.insert(0, "tools/testing")
from program import SHORT_STUDY, SMALL_STUDY, ProgramTest, main  # noqa: E402

# A thread's stack is as large as this limit, and no address space has room for it: the system gives no thread, not even
# to root, who may start any number of processes.
NO_ROOM_FOR_STACKS = 1 << 46
ONE_GIB = 1 << 30


def limit(of, most):
    """Options of a command that has this soft limit of a resource."""
    return {"preexec_fn": lambda: resource.setrlimit(of, (most, resource.getrlimit(of)[1]))}


LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind, flags, data=None):
    words = [None if word is None else str(word).encode() for word in (source, target, kind)]
    if LIBC.mount(*words, ctypes.c_ulong(flags), None if data is None else data.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {target}")


MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 32, 4096, 16384, 1 << 18, 2
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000


def enter_mount_namespace():
    """Makes later mounts visible only to this process and its children; whether the process may do so."""
    if LIBC.unshare(CLONE_NEWNS) != 0:  # it is not root
        user, group = os.getuid(), os.getgid()
        if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
            return False
        # Maps the user and the group to themselves; otherwise no file could be created.
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            pathlib.Path("/proc/self", name).write_text(text)
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    return True


@contextlib.contextmanager
def mounted(source, target, kind, flags, data=None):
    mount(source, target, kind, flags, data)
    try:
        yield
    finally:
        LIBC.umount2(str(target).encode(), MNT_DETACH)


class MachinesTest(ProgramTest):
    # Every command that works in several threads gives the same answer as with threads.
    def test_without_threads_all_commands_answer(self):
        self.write("scores.csv", "label,prediction,unknown_score,group\n" + "".join(
            f"{0 if i % 2 == 0 else -1},0,{i % 97}.5,{'' if i % 2 == 0 else 'near'}\n" for i in range(2000)))
        self.write("study.textproto", SMALL_STUDY)
        self.write("many.textproto", f"seed: {list(range(200))}" + SHORT_STUDY.replace('"study"', '"many"'))
        image = pathlib.Path("data/readers/testdata/rgb.png").read_bytes()
        for name in ("cat", "dog", "emu"):
            for i in range(40):
                self.write(f"images/{name}/{i}.png", image)
        self.out("run study.textproto")
        if 0 <= resource.getrlimit(resource.RLIMIT_STACK)[1] < NO_ROOM_FOR_STACKS:
            self.skipTest("the limit of the stack can't be raised here")
        no_threads = limit(resource.RLIMIT_STACK, NO_ROOM_FOR_STACKS)
        for command in ("eval scores.csv --ci", "plan many.textproto --noprobe --format=csv", "records ls",
                        "records verify", "data describe images", "report study.textproto"):
            threads = self.program.must_run(command)
            self.assertEqual(self.program.run(command, **no_threads), threads)
        # Compression takes one, since its bytes are the same with any number.
        exported = self.program.run("records export --bundle=out.zip", **no_threads)
        self.assertEqual(exported.code, 1, exported)
        self.says(exported.err, "cannot compress: the system gives no memory or no thread")
        # A run needs none, workers included.
        records = self.program.records()
        shutil.rmtree(self.program.store)
        self.program.must_run("run study.textproto", **no_threads)
        self.assertEqual(self.program.records(), records)

    # In memory and time that grow with the number of groups, not with its square.
    def test_many_groups_take_little_memory(self):
        self.write("scores.csv", "label,unknown_score,group\n" + "".join(f"0,{i},\n" for i in range(100)) +
                   "".join(f"-1,{g % 200},group_{g}\n" for g in range(16000)))
        for form in ("text", "json"):
            result = self.program.must_run(f"eval scores.csv --format={form}", **limit(resource.RLIMIT_AS, ONE_GIB))
            self.says(result.out, "group_15999")

    def test_a_line_of_commas_is_refused_in_little_memory(self):
        self.write("scores.csv", b"," * 50_000_000 + b"\n")
        result = self.program.run("eval scores.csv", **limit(resource.RLIMIT_AS, ONE_GIB))
        self.assertEqual(result.code, 2, result)
        self.says(result.err, "scores.csv: line 1: has more than 1000000 cells")


# A worker that sends four of sixteen bytes. Its channel is file descriptor 3.
HALF_A_MESSAGE = "head -c 4 <&3 >/dev/null\nprintf '\\020\\0\\0\\0abc' >&3\necho ready > ready\nexec sleep 100000\n"


class RunsTest(ProgramTest):
    RUN = "run study.textproto --deploy=deploy.textproto --worker=worker.sh"

    def setUp(self):
        super().setUp()
        self.write("study.textproto", SMALL_STUDY)
        self.write("deploy.textproto", "hang_seconds: 2 retries: 0 jobs: 1\n")

    def write_worker(self, script):
        self.write("worker.sh", "#!/bin/sh\n" + script)
        self.program.path("worker.sh").chmod(0o700)

    def interrupted(self, command):
        """The exit code of a run that is interrupted once its worker has written the file `ready`."""
        self.write("deploy.textproto", "hang_seconds: 100000 retries: 0 jobs: 1\n")
        process = self.program.start(command)
        while self.read("ready") != "ready\n":
            self.assertIsNone(process.poll(), self.read("err.txt"))
            time.sleep(0.01)
        # The first asks workers to save their state, the second ends them at once.
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        return process.wait()

    def test_a_worker_that_stops_within_a_message_is_killed(self):
        self.write_worker(HALF_A_MESSAGE)
        self.says(self.fails(self.RUN, 1).out, "its worker hung: it stopped in the middle of a message")

    def test_ctrl_c_works_while_a_message_is_incomplete(self):
        self.write_worker(HALF_A_MESSAGE)
        self.assertEqual(self.interrupted(self.RUN), 130)

    # A request of more bytes than a socket holds: an inference that others with the same passes share.
    def test_a_worker_that_does_not_read_a_large_request_is_killed(self):
        self.out("run study.textproto --methods=softmax")
        epsilons = "'0'" + "".join(f", '0.{10000 + e}'" for e in range(1, 1500))
        self.write("study.textproto", SMALL_STUDY.replace('"study"', '"sweep"').replace(
            "override {", "override { inference { input_perturbation {} }") +
            f"axis {{ path: 'inference.input_perturbation.epsilon' value: [{epsilons}] }}")
        self.write_worker("echo ready > ready\nexec sleep 100000\n")
        command = self.RUN + " --methods=softmax"
        self.says(self.fails(command, 1).out, "its worker hung: it stopped reading its messages")
        self.program.path("ready").unlink()
        self.assertEqual(self.interrupted(command), 130)

    def test_a_claim_that_cannot_be_read_leaves_the_others(self):
        if not enter_mount_namespace():
            self.skipTest("this process may not mount")
        self.out("run study.textproto")
        # The key of a trial's last action is the trial's id.
        records = self.program.records()
        self.assertEqual(len(records), 2)
        first = min(records)
        (self.program.store / "records" / first[:2] / f"{first}.rec").unlink()
        claim = self.program.store / "running" / first
        claim.write_text("nobody reads this")
        with mounted("/proc/sys/vm/drop_caches", claim, None, MS_BIND):  # the system refuses to read it, even to root
            self.assertRaises(PermissionError, claim.read_text)
            self.says(self.fails("run study.textproto --retries=1", 1).out, "it can't be claimed now: cannot open ",
                      f"running/{first}: Permission denied")
        claim.unlink()
        self.out("run study.textproto")
        self.assertEqual(self.program.records(), records)

    # A store on a disk of 100 kB, and then of 20 MB.
    def test_a_full_disk_is_named_and_starts_nothing_new(self):
        if not enter_mount_namespace():
            self.skipTest("this process may not mount")
        store = self.program.store
        store.mkdir()
        with mounted("tmpfs", store, "tmpfs", 0, "size=100k"):
            full = self.fails("run study.textproto --jobs=1", 1, f"the store {store} is full or missing: cannot write ",
                              ": No space left on device; openset started no new work. The same command continues once "
                              "there is room\n")
            self.says_not(full.out, "] trained ")
            self.assertEqual(self.program.records(), {})
            mount("tmpfs", store, "tmpfs", MS_REMOUNT, "size=20000k")
            self.out("run study.textproto --jobs=1")
            self.assertEqual(len(self.program.records()), 2)

    def test_a_report_that_cannot_be_written_loses_no_record(self):
        self.write("openset-store/reports/study/report.tex/file", "in a folder where the report goes")
        result = self.fails("run study.textproto", 1,
                            "only the report's files are missing: the records are stored, and the same command writes "
                            "the report\n")
        self.assertEqual(len(self.program.records()), 2)
        self.says(result.out, "AUROC", "records: ")
        self.says_not(result.out, "report:  ")
        shutil.rmtree(self.program.store / "reports/study/report.tex")
        self.out("run study.textproto")
        self.assertNotEqual(self.read("openset-store/reports/study/report.html"), "")


if __name__ == "__main__":
    main()
