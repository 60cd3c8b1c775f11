#!/usr/bin/env python3
"""The work of a Slurm task in a submitted run, without Slurm."""
import os
import sys

sys.path.insert(0, "tools/testing")
from program import SMALL_STUDY, ProgramTest, changed_record, main  # noqa: E402


class SlurmTaskTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("study.textproto", SMALL_STUDY)

    def results(self):
        """The files of the store's results, with their bytes."""
        return {path: path.read_bytes() for kind in ("records", "checkpoints", "outputs")
                for path in self.program.files("openset-store/" + kind)}

    # Each task has the flags of the submitted command; what they request was already done before.
    def test_makes_the_chosen_records_and_removes_nothing(self):
        self.out("run study.textproto")
        record = self.program.files("openset-store/records")[0]
        others = self.results()
        del others[record]
        array = self.program.path("openset-store/slurm/openset-study-evaluate.rec")
        self.write(array, changed_record("", "name openset-study-evaluate", "experiment study",
                                         f"record[] {record.stem}", "only_these true", "tasks 1", "seat.cpus 1",
                                         kind="SlurmArray"))
        self.write("cluster.textproto", "slurm { idle_seconds: 1 }")
        task = f"--slurm_task={array}"
        self.program.environment.update(SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="0")
        for flag in ("--redo=all", "--redo=failed", "--only=failed"):
            record.unlink()
            self.out(f"run study.textproto --deploy=cluster.textproto {flag} {task}")
            results = self.results()
            self.assertIn(record, results, flag)
            del results[record]
            self.assertEqual(results, others, flag)
        record.unlink()
        self.program.environment["SLURM_ARRAY_TASK_ID"] = "1"
        self.fails(f"run study.textproto {task}", 2, "SLURM_ARRAY_TASK_ID must be 0 to 0")

    # Slurm's commands are scripts: sbatch accepts every job as number 7, and the queue is empty.
    def test_a_detached_run_prints_the_jobs_and_how_to_watch_them(self):
        for name, script in (("sbatch", "echo 7"), ("squeue", "true"), ("scontrol", "echo 'MaxArraySize = 1001'")):
            self.write(f"bin/{name}", f"#!/bin/sh\n{script}\n")
            self.program.path(f"bin/{name}").chmod(0o700)
        self.program.environment["PATH"] = f"{self.program.path('bin')}:{os.environ['PATH']}"
        run = self.out("run study.textproto --engine=slurm --detach")
        self.says(run, "submitted Slurm job 7: 2 tasks, 1 CPU each\n", "watch them with 'openset status'")
        self.assertTrue(run.endswith(f"{self.program.store}/slurm/logs\n"), run)
        # The tasks ended without a result: status says what they wrote last.
        array, = (path.stem for path in self.program.files("openset-store/slurm") if path.suffix == ".rec")
        self.says(self.out("status study.textproto"), f"Slurm job {array} has left the queue, and 2 of its 2 records are "
                  "missing; the last lines of its output:\n  none: its tasks wrote nothing\n")
        for task, text in enumerate(("starts\nslurmstepd: error: Exceeded job memory limit\n\n", "starts\n")):
            self.write(f"openset-store/slurm/logs/{array}.{task}.log", text)
        logs = self.program.store / "slurm/logs"
        self.says(self.out("status study.textproto"), f"  {logs}/{array}.0.log: slurmstepd: error: Exceeded job memory "
                  f"limit\n  {logs}/{array}.1.log: starts\n")


if __name__ == "__main__":
    main()
