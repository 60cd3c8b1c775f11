#!/usr/bin/env python3
"""The messages of commands for a second user of a store, depending on its owner's umask.

Root creates the users; otherwise the tests are skipped.
"""
import ctypes
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

sys.path.insert(0, "tools/testing")
from program import PROGRAM, ROOT, TEMPORARY, ProgramTest, main  # noqa: E402

SPEC = """
name: "{name}" task: "fashion_mnist_6_4" method: "softmax" seed: {seed}
train_limit_per_class: 8 test_limit_per_class: 8
metric {{ accuracy {{}} }} metric {{ auroc {{}} }}
override {{ training {{ epochs: 1 }} }}
"""
# Ids that no account uses.
ANNA, BERT, GROUP = 64001, 64002, 64000


def let_all_reach(path):
    """Lets every user reach `path` in this process's mount namespace, even if a folder above it is closed to them.

    Mounts a tmpfs over each closed folder that shows only the next entry of the path.
    """
    path = pathlib.Path(path).resolve()
    for folder, entry in zip(reversed(path.parents), path.parts[1:]):
        if not folder.stat().st_mode & 0o001:
            closed = os.open(folder, os.O_PATH | os.O_DIRECTORY)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder], check=True)
            (folder / entry).mkdir()
            subprocess.run(["mount", "--no-canonicalize", "--rbind", f"/proc/self/fd/{closed}/{entry}", folder / entry],
                           pass_fds=[closed], check=True)
            os.close(closed)


class TwoUsersTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can become other users")
        try:
            if ctypes.CDLL(None).unshare(0x20000) != 0:  # CLONE_NEWNS
                raise unittest.SkipTest("this process may not mount")
            subprocess.run(["mount", "--make-rprivate", "/"], check=True)
            # The runfiles, the program, which is a link to the built file, and a file of the source tree.
            for path in (TEMPORARY, ROOT, PROGRAM, ROOT / "experiments/methods/softmax.textproto"):
                let_all_reach(path)
            subprocess.run([PROGRAM, "--help"], user=ANNA, group=GROUP, extra_groups=[], cwd="/", check=True,
                           stdout=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError) as error:
            raise unittest.SkipTest(f"other users can't run the program: {error}")

    def setUp(self):
        super().setUp()
        for name, seed in (("one", 0), ("two", 1)):
            self.write(f"{name}.textproto", SPEC.format(name=name, seed=seed))
        for user in (ANNA, BERT):
            self.program.path(f"home{user}").mkdir()
            os.chown(self.program.path(f"home{user}"), user, GROUP)
        shared = self.program.path("shared")
        shared.mkdir()
        os.chown(shared, ANNA, GROUP)
        shared.chmod(0o2775)
        self.store = shared / "store"
        self.masks = {ANNA: 0o022, BERT: 0o022}

    def run_as(self, user, command):
        """Runs it with --store=shared/store in the user's own folder. {one} and {two}: the specs."""
        specs = {name: self.program.path(f"{name}.textproto") for name in ("one", "two")}
        home = self.program.path(f"home{user}")
        self.program.environment["HOME"] = str(home)
        return self.program.run(shlex.split(command.format(**specs)) + [f"--store={self.store}"], cwd=home, user=user,
                                group=GROUP, extra_groups=[], umask=self.masks[user])

    def succeeds(self, user, command):
        result = self.run_as(user, command)
        self.assertEqual(result.code, 0, result)
        return result

    def content(self):
        """The path, owner, mode and size of everything in the store."""
        info = {path: path.lstat() for path in self.store.rglob("*")}
        return {path: (of.st_uid, of.st_mode, 0 if path.is_dir() else of.st_size) for path, of in info.items()}

    def refused_as(self, user, command):
        """One error that names the store, below hints on a report that is shown; nothing is written."""
        before = self.content()
        result = self.run_as(user, command)
        self.assertIn(result.code, (1, 2), result)
        *hints, error = result.err.splitlines()
        self.assertRegex(error, "^openset: .*Permission denied")
        self.says(error, str(self.store))
        for hint in hints:
            self.assertTrue(hint.startswith("hint: "), result)
        self.assertEqual(self.content(), before)
        return result

    def test_readers_can_read_everything(self):
        self.succeeds(ANNA, "run {one}")
        before = self.content()
        for command in ("report {one}", "status {one}", "status", "plan {two} --noprobe", "records ls",
                        "records verify", "records gc --dry_run", "records export --bundle=all.zip"):
            self.succeeds(BERT, command)
            self.assertEqual(self.content(), before, command)
        self.refused_as(BERT, "run {two}")
        self.refused_as(BERT, "run {one}")  # all results exist, but the report can't be rewritten
        # Commands with work to do are refused too, and don't say that they did it.
        self.assertEqual(self.refused_as(BERT, "records rm split=0 --yes").out, "")
        self.refused_as(BERT, "records gc")
        os.truncate(self.program.files("shared/store/records")[-1], 60)
        self.refused_as(BERT, "records verify")
        self.refused_as(BERT, "records merge all.zip")

    def test_a_group_works_on_one_store(self):
        self.masks = {ANNA: 0o002, BERT: 0o002}
        self.succeeds(ANNA, "run {one}")
        self.succeeds(BERT, "run {two}")
        self.succeeds(BERT, "run {one}")
        self.says(self.run_as(BERT, "records show --format=json 0").err, "is not a trial")
        self.says(self.succeeds(ANNA, "records ls").out, "10 of 10 records")
        self.succeeds(ANNA, "records verify")
        self.succeeds(ANNA, "records gc")

    def test_an_inaccessible_store_is_refused_in_one_line(self):
        self.masks[ANNA] = 0o077
        self.succeeds(ANNA, "run {one}")
        for command in ("run {one}", "report {one}", "status", "status {one}", "plan {one}", "records ls",
                        "records verify", "records gc", "records merge all.zip", "explain abcd",
                        "export outputs abcd out"):
            self.refused_as(BERT, command)

    def test_only_the_user_can_read_a_private_store(self):
        self.succeeds(ANNA, "run {one} --private")
        paths = [self.store, *self.store.rglob("*")]
        self.assertGreater(len(paths), 10)
        for path in paths:
            self.assertEqual(path.stat().st_mode & 0o777, 0o700 if path.is_dir() else 0o600, path)
        self.refused_as(BERT, "report {one}")
        self.succeeds(ANNA, "report {one}")


if __name__ == "__main__":
    main()
