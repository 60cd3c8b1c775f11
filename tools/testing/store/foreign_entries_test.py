#!/usr/bin/env python3
"""Links, pipes and unreadable files in a store, which others who may write there can make; folders that are no store.

Whatever the command: nothing outside of the store changes or is shown, nothing is moved or removed through a link, and
no command hangs.
"""
import os
import shutil
import sys
import time

sys.path.insert(0, "tools/testing")
from program import SMALL_STUDY, TEMPORARY, Program, ProgramTest, main  # noqa: E402

SECRET = "the secret of ~/.ssh/id"
# The commands that read or change a store. `serve` is asked by tools/testing/serve_test.py.
COMMANDS = ("records ls", "records export --bundle=out.zip", "records merge other", "compare study.textproto",
            "report study.textproto", "figure study.textproto --curve=loss", "status", "status study.textproto",
            "records gc --older_than=0", "records gc --max_size=0", "records verify", "run study.textproto",
            "run study.textproto --redo=all")


def usual_code(command):
    """The exit code with a whole store: everything in it is young."""
    return 1 if "--max_size=0" in command else 0


def age(folder):
    """Makes everything in the folder old."""
    old = time.time() - 100 * 24 * 3600
    for path in folder.rglob("*"):
        os.utime(path, (old, old))


class ForeignEntriesTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.made = Program(TEMPORARY / "made")
        cls.made.write("study.textproto", SMALL_STUDY)
        cls.made.must_run("run study.textproto")

    def setUp(self):
        super().setUp()
        self.write("study.textproto", SMALL_STUDY)
        self.whole, self.store = self.program.path("whole"), self.program.path("store")
        shutil.copytree(self.made.store, self.whole)
        # What a store may contain besides the results of a whole run.
        for folder in ("attempts", "logs", "partial", "slurm", "programs", "data", "replicas"):
            (self.whole / folder).mkdir(exist_ok=True)
        self.write("whole/quarantine/1/reason", "a reason\n")
        # Old files with the names of a store's, to which links may lead; and a home.
        shutil.copytree(self.whole, self.program.path("other"))
        for name in ("id", "thesis/report.tex", "thesis/1/reason"):
            self.write("home/" + name, SECRET)
        shutil.copytree(self.whole, self.program.path("home/thesis/store"))
        for folder in ("home", "other"):
            age(self.program.path(folder))

    def entries(self):
        """Some entries of a store of each kind: every room, in each the first shard or folder, and so on to a file."""
        entries = []
        for path in sorted(self.whole.iterdir()):
            while path:
                entries.append(str(path.relative_to(self.whole)))
                path = min(path.iterdir(), default=None) if path.is_dir() else None
        return entries

    def some_entries(self):
        return self.entries()[1::3]

    def fresh_store(self, without):
        """A new copy of the store without this entry: the path of the entry."""
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.whole, self.store)
        path = self.store / without
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        return path

    def outside(self):
        """All that is outside of the store: content, and where links lead, with inodes and times of change."""
        tree = {}
        for folder in ("home", "other"):
            for path in self.program.path(folder).rglob("*"):
                info = path.lstat()
                tree[path] = (info.st_mode, info.st_ino, info.st_mtime_ns,
                              os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else "")
        return tree

    def check(self, entry, what, put):
        """Runs all commands on a store in whose place of `entry` put(path) has made something, each on a new copy.

        Each command that ends well must not have needed the entry, and each other one names it.
        """
        outside = self.outside()
        for command in COMMANDS:
            with self.subTest(f"{entry} is {what}: {command}"):
                put(self.fresh_store(entry))
                result = self.run_program(command + " --store=store")
                self.assertIn(result.code, (0, 1, 2), result)
                self.says_not(result.printed, SECRET, "internal error")
                if result.code != usual_code(command):
                    self.says(result.printed, entry.split("/")[0])
                self.assertEqual(self.outside(), outside)

    def test_links_to_another_store(self):
        for entry in self.entries():
            self.check(entry, "a link to another store",
                       lambda path: path.symlink_to(self.program.path("other") / path.relative_to(self.store)))

    def test_links_to_a_home(self):
        for entry in self.some_entries():
            target = self.program.path("home/thesis" if (self.whole / entry).is_dir() else "home/id")
            self.check(entry, "a link to a home", lambda path, target=target: path.symlink_to(target))

    def test_pipes(self):
        for entry in self.some_entries():
            if "/" in entry:  # else see below
                self.check(entry, "a pipe", os.mkfifo)

    # In the place of a whole room, a pipe is an empty room to other commands.
    def test_verify_names_a_pipe_in_the_place_of_a_room(self):
        for room in ("records", "checkpoints", "outputs", "attempts"):
            os.mkfifo(self.fresh_store(room))
            self.says(self.fails("records verify --dry_run --store=store", 1).out,
                      f"store/{room}: is not the folder that results belong in")

    # A link to a room of a store makes each command refuse the store and name the link.
    def test_a_linked_room_is_refused_by_name(self):
        for room in ("records", "checkpoints", "outputs", "reports", "attempts", "quarantine", "runs", "tmp"):
            self.fresh_store(room).symlink_to(self.program.path("other") / room)
            for command in COMMANDS:
                self.fails(command + " --store=store", 2,
                           f"store/{room}: is a link; openset follows no link below")

    # The report's folder or one of its files leads to a paper: the run says so before it trains anything.
    def test_a_run_does_not_write_its_report_through_a_link(self):
        for link, target in (("reports/study", "home/thesis"), ("reports/study/report.tex", "home/thesis/report.tex")):
            shutil.rmtree(self.store, ignore_errors=True)
            self.write("store/version", "openset store 3\n")
            (self.store / link).parent.mkdir(parents=True)
            if link.endswith(".tex"):
                self.write("store/reports/study/spec", "")
            (self.store / link).symlink_to(self.program.path(target))
            outside = self.outside()
            result = self.run_program("run study.textproto --store=store")
            self.assertNotEqual(result.code, 0)
            self.says(result.err, f"store/{link}: is a link; openset follows no link below")
            self.assertEqual(self.outside(), outside)

    # The store's folder itself, and folders above it, may be links.
    def test_the_store_may_be_a_link(self):
        self.store.symlink_to("whole")
        for command in COMMANDS:
            self.fails(command + " --store=store", usual_code(command))


class NotAStoreTest(ProgramTest):
    """Commands whose store is a folder with other files: none of these files is changed."""

    SPEC = """
name: "study" task: "fashion_mnist_6_4" method: "softmax" method: "energy_score" seed: 0
train_limit_per_class: 8 test_limit_per_class: 8
metric { accuracy {} }
override { training { epochs: 1 } }
"""
    # Old files with names like openset's temporary files.
    OTHERS = ("my.tmp.notes/chapter/one", "thesis.tmp.2024", "a.tmp.node.0123abcd.1.0")
    IN_ROOMS = ("tmp/a.tmp.x.1.0", "tmp/my.tmp.notes/one", "logs/diary.log", "partial/x.tmp.2024",
                "programs/mine/bin/start", "quarantine/dog/letter")

    def setUp(self):
        super().setUp()
        self.write("study.textproto", self.SPEC)
        self.home = self.program.path("home")

    def write_home(self, names):
        for name in names:
            self.write("home/" + name, name)
        age(self.home)

    def content(self):
        return {path: path.read_bytes() if path.is_file() else "a folder" for path in self.home.rglob("*")}

    def test_commands_refuse_it(self):
        self.write_home(self.OTHERS + self.IN_ROOMS)
        before = self.content()
        not_a_store = f"openset: {self.home} is not a store"
        for command in ("records gc", "records gc --dry_run", "records verify", "records ls", "records show abcd",
                        "records export --bundle=x.zip", "records rm trial=abcd", "records spec abcd",
                        "records ls split=0", "report split=0", "compare study.textproto", "reproduce abcd",
                        "serve --port=0", "export outputs abcd out", "explain abcd", "explain abcd study.textproto",
                        "status", "status study.textproto", "plan study.textproto", "report study.textproto",
                        "cancel study.textproto", "figure study.textproto --curve=loss"):
            self.assertEqual(self.refused(command + " --store=home"),
                             not_a_store + ": it has no file 'version'; name another folder (--store)\n")
            self.assertEqual(self.content(), before)
        for command in ("run study.textproto", "records merge home"):  # they make results
            self.assertEqual(self.refused(command + " --store=home"), not_a_store +
                             ", and has other files (a.tmp.node.0123abcd.1.0): name a new or an empty folder "
                             "(--store)\n")
            self.assertEqual(self.content(), before)
        self.assertFalse(self.program.path("x.zip").exists() or self.program.path("out").exists())

    # `run` makes a store in a folder that only has folders of a store, as one that has lost its file `version`. Neither
    # `run` nor later clean-up changes the existing files.
    def test_files_from_before_the_store_are_kept(self):
        self.write_home(self.IN_ROOMS)
        before = self.content()
        self.out("run study.textproto --store=home --methods=softmax")
        self.says(self.out("records gc --store=home --older_than=0"), "removed 0")
        self.out("records verify --store=home")
        self.out("run study.textproto --store=home")
        self.assertLessEqual(before.items(), self.content().items())

    def test_an_empty_folder_counts_as_a_missing_store(self):
        self.home.mkdir()
        self.says(self.out("status study.textproto --store=home"), "0 of 10 trials done")
        self.out("plan study.textproto --store=home --noprobe")
        self.fails("records ls --store=home", 2)
        self.assertEqual(self.content(), {})


if __name__ == "__main__":
    main()
