#!/usr/bin/env python3
"""A store with one corruption at a time.

`records verify` names it and moves it to quarantine, `report` uses the other results and says what is missing, and
`run` restores the same records. OPENSET_FAULTS=long: all cases, otherwise every third.
"""
import ctypes
import itertools
import os
import shutil
import sys

sys.path.insert(0, "tools/testing")
from program import SMALL_STUDY, TEMPORARY, Program, ProgramTest, flip_bit, main, times  # noqa: E402

RUN, REPORT, VERIFY = "run study.textproto", "report study.textproto", "records verify"
# Where a corruption becomes visible, other than in `records verify`.
IN_REPORT = "the report names the record's path and exits with 1"
AS_MISSING = "the record counts as missing"
NOWHERE = "the report doesn't read it"
AS_STRANGER = "nothing reads it, and it stays"


def clear(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def replace(path, content):
    clear(path)
    path.write_bytes(content)


def make_folder(path):
    clear(path)
    path.mkdir()


def make_pipe(path):
    clear(path)
    os.mkfifo(path, 0o600)


def append(path, content):
    with open(path, "ab") as file:
        file.write(content)


def copy(source, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)


def entries(store, kind):
    """The entries of kind/XX/ in order."""
    return sorted(store.glob(f"{kind}/*/*"))


# Links are in foreign_entries_test.py: they are named, and stay.
def damages_of(store):
    """Rows of what is damaged, the path that messages name, where it is seen, and what makes the damage."""
    (record, other), (checkpoint, _), (outputs, other_outputs) = (entries(store, kind) for kind in
                                                                  ("records", "checkpoints", "outputs"))
    trial, shard = record.stem, record.parent
    weights, arrays, action = (checkpoint / "checkpoint.safetensors", outputs / "outputs.npz",
                               checkpoint / "action.textproto")
    replica = store / f"replicas/{trial[:2]}/{trial}/{64 * '0'}.rec"
    attempt = store / f"attempts/{trial}/1.rec"
    stray, nameless = store / "records/00", shard / "note.rec"
    return (
        ("an empty record", record, IN_REPORT, lambda: replace(record, b"")),
        ("a folder in a record's place", record, IN_REPORT, lambda: make_folder(record)),
        ("a pipe that nobody writes to", record, IN_REPORT, lambda: make_pipe(record)),
        ("half a record", record, IN_REPORT, lambda: os.truncate(record, record.stat().st_size // 2)),
        ("a flipped bit", record, IN_REPORT, lambda: flip_bit(record)),
        ("a record and more", record, IN_REPORT, lambda: append(record, b"x")),
        ("another trial's record", record, IN_REPORT, lambda: copy(other, record)),
        ("a file in the place of a folder of records", shard, AS_MISSING, lambda: replace(shard, b"x")),
        ("a record in another's folder", stray, AS_STRANGER, lambda: copy(record, stray / record.name)),
        ("a record without a name", nameless, AS_STRANGER, lambda: copy(record, nameless)),
        ("a duplicate of another digest than its name", replica, NOWHERE, lambda: copy(other, replica)),
        ("an empty duplicate", replica, NOWHERE, lambda: (copy(record, replica), replace(replica, b""))),
        ("an attempt that is nonsense", attempt, NOWHERE, lambda: (copy(record, attempt), replace(attempt, b"x"))),
        ("empty weights", weights, NOWHERE, lambda: replace(weights, b"")),
        ("no weights", weights, NOWHERE, weights.unlink),
        ("weights that are a pipe", weights, NOWHERE, lambda: make_pipe(weights)),
        ("a file in a checkpoint's place", checkpoint, NOWHERE, lambda: replace(checkpoint, b"x")),
        ("a checkpoint without its summary", checkpoint, NOWHERE, (checkpoint / "summary.rec").unlink),
        ("another action than the summary's", action, NOWHERE, lambda: append(action, b"seed: 7\n")),
        ("a flipped bit of outputs", arrays, NOWHERE, lambda: flip_bit(arrays)),
        ("a folder in the place of outputs", arrays, NOWHERE, lambda: make_folder(arrays)),
        ("the summary of other outputs", outputs, NOWHERE,
         lambda: copy(other_outputs / "summary.rec", outputs / "summary.rec")))


class DamagedStoreTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        whole = Program(TEMPORARY / "whole")
        whole.write("study.textproto", SMALL_STUDY)
        whole.must_run(RUN)
        cls.whole, cls.records = whole.store, whole.records()
        assert len(cls.records) == 2

    def setUp(self):
        super().setUp()
        self.write("study.textproto", SMALL_STUDY)
        self.store = self.program.store
        self.restore()

    def restore(self):
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.whole, self.store)

    def named(self, path):
        """As messages name it: the store's folder may be relative there."""
        return str(path.relative_to(self.program.folder))

    def test_corrupt_results_are_named_quarantined_and_made_again(self):
        damages = damages_of(self.store)
        self.assertGreaterEqual(len(damages), 20)
        for what, path, seen, make in damages[::times(1, 3)]:
            with self.subTest(what):
                self.restore()
                make()
                report = self.run_program(REPORT)
                if seen != AS_MISSING:
                    self.assertEqual(report.code, 1 if seen == IN_REPORT else 0, report)
                self.says(report.out, "accuracy")  # the rest
                self.assertEqual("1 of 2 trials have no record yet" in report.out or
                                 "1 of 2 trials lacks only the evaluation" in report.out,
                                 seen in (IN_REPORT, AS_MISSING), report)
                if seen == IN_REPORT:
                    self.says(report.err, self.named(path))
                self.says(self.fails(VERIFY, 1).out, self.named(path))
                self.assertEqual((self.store / "quarantine/1").exists(), seen != AS_STRANGER)
                self.out(RUN)
                records = self.program.records()
                records.pop("note", None)  # the record without a name, which stays
                self.assertEqual(records, self.records)
                self.fails(VERIFY, 1 if seen == AS_STRANGER else 0)

    # Without `verify`: a run checks its inputs itself.
    def test_a_run_makes_corrupt_results_again(self):
        damages = [damage for damage in damages_of(self.store) if damage[2] == IN_REPORT]
        for what, _, _, make in damages[::times(1, 3)]:
            with self.subTest(what):
                make()
                self.out(RUN)
                self.assertEqual(self.program.records(), self.records)
        self.out(VERIFY)

    # A colleague's files that nobody else may read: they are named, stay where they are, and nothing takes their place.
    def test_what_is_closed_stays(self):
        # Root ignores file modes. Programs started from here on lose that power. Other users don't have it.
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
        record = entries(self.store, "records")[0]
        weights = entries(self.store, "checkpoints")[0] / "checkpoint.safetensors"
        arrays = [outputs / "outputs.npz" for outputs in entries(self.store, "outputs")]
        for closed in (record, record.parent, weights, arrays[0]):
            with self.subTest(self.named(closed)):
                mode, is_of_record = closed.stat().st_mode, "/records/" in str(closed)
                closed.chmod(0)
                for command in (VERIFY, RUN, REPORT, "records ls"):
                    reads_it = is_of_record or command == VERIFY
                    result = self.fails(command, 1 if reads_it else 0)
                    if reads_it:
                        self.says(result.printed, self.named(closed))
                self.says(self.run_program(VERIFY).out, "0 corrupt, 1 can't be read now")
                self.assertEqual(self.run_program("records gc").code == 0, not is_of_record)
                closed.chmod(mode & 0o777)
                self.assertFalse((self.store / "quarantine").exists())
                self.out(VERIFY)
                self.assertEqual(self.program.records(), self.records)
        # Outputs that a run needs.
        record.unlink()
        for path in arrays:
            path.chmod(0)
        self.says(self.fails(RUN + " --retries=0", 1).printed, "outputs.npz: Permission denied")
        self.assertFalse((self.store / "quarantine").exists())
        for path in arrays:
            path.chmod(0o700)
        self.out(RUN)
        self.assertEqual(self.program.records(), self.records)


def swap(a, b):
    aside = a.parent.parent.parent.parent / "aside"
    a.rename(aside)
    b.rename(a)
    aside.rename(b)


class SwappedResultsTest(ProgramTest):
    # Each pair of valid results that changed places: of an imported model, of ensembles, of trainings that start from
    # another one, and of outputs that scores are fitted to. None is used, and all are made again.
    def test_results_in_each_others_place_are_not_used(self):
        store = self.program.store
        self.write("study.textproto", SMALL_STUDY.replace('"mcp"', '"knn", "deep_ensemble"'))
        self.out(RUN)
        records = self.program.records()
        pairs = []
        for kind in ("outputs", "checkpoints", "records"):
            of_kind = list(itertools.combinations(entries(store, kind), 2))
            self.assertNotEqual(of_kind, [], kind)
            pairs += of_kind
        every = times(1, 4)
        for a, b in pairs[every - 1::every]:
            swap(a, b)
            verified = self.fails("records verify --dry_run", 1).out
            self.says(verified, ": 2 corrupt", *(str(path.relative_to(self.program.folder)) for path in (a, b)))
            swap(a, b)
        self.out(VERIFY)

        # Outputs of different trainings: whoever would use them refuses them, and the records are the same again.
        swap(*entries(store, "outputs")[:2])
        self.assertNotEqual(self.run_program("records export --bundle=all.zip --with=outputs").code, 0)
        self.assertFalse(self.program.path("all.zip").exists())
        self.says("".join(self.run_program(f"explain {trial[:12]}").out for trial in records), "corrupt: ")
        shutil.rmtree(store / "records")
        self.says(self.out(RUN), "it belongs to another action")
        self.assertEqual(self.program.records(), records)

        checkpoints = entries(store, "checkpoints")
        for a, b in zip(checkpoints[::2], checkpoints[1::2]):
            swap(a, b)
        shutil.rmtree(store / "records")
        shutil.rmtree(store / "outputs")
        self.out(RUN)
        self.assertEqual(self.program.records(), records)
        self.out(VERIFY)


if __name__ == "__main__":
    main()
