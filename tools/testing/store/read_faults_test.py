#!/usr/bin/env python3
"""A finished store whose disk can't be read for a while.

open, read, stat and the listing of folders fail with EMFILE, ENFILE, ENOMEM, EIO, ESTALE and EACCES, in each folder of
the store and for each command, always or at one call. Nothing is removed, moved or made over, nothing is called
corrupt, and a command that could not read something says so and fails: exit code 0 means that the output is the usual
one. OPENSET_FAULTS=long: all cases; otherwise a sample.
"""
import hashlib
import itertools
import os
import re
import shutil
import sys
import time

sys.path.insert(0, "tools/testing")
from program import ROOT, SMALL_STUDY, ProgramTest, changed_record, main, times  # noqa: E402

# "records" also stands for the folder itself, "records/" for what is below it.
ROOMS = ("records", "replicas", "checkpoints", "outputs", "attempts", "quarantine", "runs", "partial", "slurm", "logs",
         "reports", "data", "tmp", "running", "programs", "version", "records/")
CALLS = ("open", "read", "stat", "list")
ERRORS = ("EMFILE", "EACCES", "ESTALE", "ENFILE", "EIO", "ENOMEM")
# Always; at the first, at a middle and at the last of the calls.
WHERE = (None, lambda calls: 0, lambda calls: calls // 2, lambda calls: calls - 1)
# What every command may write: temporary files, and the tables of a run.
WRITTEN = ("tmp", "reports", "running", "runs", "logs")


class ReadFaultsTest(ProgramTest):
    def setUp(self):
        """A finished store with something in every room, all of it older than a month."""
        super().setUp()
        self.write("study.textproto", SMALL_STUDY)
        # A further score of the same outputs.
        self.write("more.textproto", SMALL_STUDY.replace('"mcp"', '"mcp", "max_logit"'))
        self.write("small.textproto", "store_gb: 0.000001\n")
        self.out("run study.textproto")
        self.trial = min(self.program.records())
        self.mcp = next(trial for trial in self.program.records()
                        if self.program.record(trial)["trial"]["method"]["name"] == "mcp")
        record, key = self.trial[:2] + "/" + self.trial, 64 * "a"
        replica = changed_record(self.program.store / f"records/{record}.rec", "provenance.stage[0].host elsewhere")
        failure = changed_record("", "schema_version 2", f"key {key}", "message 'it failed'", kind="FailureRecord")
        for name, content in ((f"replicas/{record}/{hashlib.sha256(replica).hexdigest()}.rec", replica),
                              (f"attempts/{key}/1.rec", failure), ("quarantine/1/reason", "an earlier damage\n"),
                              (f"partial/{64 * 'b'}.safetensors", "a saved state"), ("slurm/note", "x"),
                              ("programs/note", "x")):
            self.write("openset-store/" + name, content)
        old = time.time() - 40 * 24 * 3600
        for path in self.program.store.rglob("*"):
            os.utime(path, (old, old))
        self.pristine = self.program.path("pristine")
        shutil.copytree(self.program.store, self.pristine)
        self.whole = self.content()
        self.program.environment["LD_PRELOAD"] = str(ROOT / "core/testing/failing_disk_preload.so")

    def content(self):
        """{name: digest} of everything in the store except what every command may write."""
        content, store = {}, self.program.store
        for path in store.rglob("*"):
            name = str(path.relative_to(store))
            if not name.startswith(WRITTEN):
                content[name] = "a folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).digest()
        return content

    def restore(self):
        shutil.rmtree(self.program.store)
        shutil.copytree(self.pristine, self.program.store)  # with its times
        shutil.rmtree(self.program.path("made"), ignore_errors=True)
        self.program.path("made").mkdir()

    def run_with(self, command, **fault):
        """Runs a command while the disk fails (core/testing/failing_disk_preload.cc)."""
        faults = {f"FAILING_DISK_{name}": str(value) for name, value in fault.items()}
        self.program.environment.update(faults)
        result = self.run_program(command)
        for name in faults:
            del self.program.environment[name]
        return result

    def count_calls(self, command, room, calls):
        """The number of these calls that a command makes."""
        self.restore()
        log = self.program.path("calls.txt")
        log.unlink(missing_ok=True)
        self.run_with(command, PATH=f"/openset-store/{room}", ERROR="", CALLS=calls, AT=0, TIMES=-1, LOG=log)
        return self.read("calls.txt").count("\n")

    def check(self, command, usual, result, room, is_run, takes, fails_once):
        """Returns whether the command noticed the error."""
        said = result.printed
        self.assertIn(result.code, (0, 1, 2), result)
        noticed = usual.code == 0 and result.code != 0
        if noticed:
            self.says(said, "openset-store")  # it names the file or the reason
        # A run's lines have times, and its failures are of its own. A log that can't be looked at is named, also if it
        # may be empty.
        if not is_run and result.code == 0 == usual.code and room != "logs":
            # Nothing is left out without a line: "cannot open PATH: Permission denied".
            is_said = "cannot " in said and "openset-store/" in said
            self.assertTrue(result.out == usual.out or is_said, result)
        self.assertNotRegex(said, re.compile("(?<![ \n]0 )corrupt"))
        # A run that met an error once may remove what it is told to, when everything can be read again.
        may_take = result.code == 0 or command.endswith("--yes") or (is_run and fails_once)
        left = self.content()
        for name, content in self.whole.items():
            if name not in left and may_take and name.startswith(takes):
                continue
            self.assertEqual(left.get(name), content, f"{name} has gone or changed: {result}")
        for name in left.keys() - self.whole.keys():
            self.assertTrue(is_run and not name.startswith("quarantine"), f"{name} is new: {result}")
        return noticed

    def test_an_error_is_neither_absence_nor_damage(self):
        short, mcp = self.trial[:12], f"{self.mcp[:2]}/{self.mcp}"
        commands = (  # with what they are told to remove
            ("records gc --older_than=0 --checkpoints_older_than=0 --dry_run", ()),
            ("records gc", ("quarantine", "logs")),
            ("records ls", ()),
            ("records verify", ()),
            ("records export --bundle=made/all.zip", ()),
            ("records export method=mcp --bundle=made/mcp.zip --with=outputs,checkpoints", ()),
            ("records merge openset-store --store=made/other", ()),
            ("records rm method=mcp --yes", ("records/" + mcp, "replicas/" + mcp)),
            (f"records show {short}", ()),
            ("report experiment=study", ()),
            ("report study.textproto", ()),
            ("compare study.textproto", ()),
            ("figure study.textproto --curve=roc --out=made/roc.svg", ()),
            ("status", ()),
            ("status study.textproto", ()),
            ("plan study.textproto --noprobe", ()),
            (f"explain {short}", ()),
            (f"explain {short} study.textproto", ()),
            (f"export outputs {short} made/outputs", ()),
            ("run study.textproto", ()),
            ("run more.textproto --retries=0", ()),
            ("run study.textproto --deploy=small.textproto", ("outputs", "checkpoints", "quarantine")))
        cases = noticed = 0
        usual, made = {}, {}  # results without errors, and numbers of calls
        every = times(1, 47)
        all_cases = itertools.product(commands, ROOMS, CALLS, ERRORS, WHERE)
        for (command, takes), room, calls, error, where in itertools.islice(all_cases, every - 1, None, every):
            if command not in usual:
                self.restore()
                usual[command] = self.run_program(command)
            if (command, room, calls) not in made:
                made[command, room, calls] = self.count_calls(command, room, calls)
            count = made[command, room, calls]
            if count < (1, 1, 2, 3)[WHERE.index(where)]:
                continue
            self.restore()
            result = self.run_with(command, PATH=f"/openset-store/{room}", ERROR=error, CALLS=calls,
                                   AT=where(count) if where else 0, TIMES=1 if where else -1)
            # A failure names the case, and ends the test.
            result = result._replace(command=f"{command}; {calls} below {room} gives {error}, {where and where(count)}")
            noticed += self.check(command, usual[command], result, room, command.startswith("run "), takes,
                                  where is not None)
            cases += 1
        self.assertGreaterEqual(cases, times(3000, 40))
        self.assertGreaterEqual(noticed, cases // 4)
        self.restore()
        self.out("records verify")
        print(f"{cases} read faults: nothing lost, moved or called corrupt; {noticed} of them noticed")


if __name__ == "__main__":
    main()
