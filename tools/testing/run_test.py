#!/usr/bin/env python3
"""The complete flow on real Fashion-MNIST images: results are reproducible, and survive kills."""
import hashlib
import os
import re
import shutil
import signal
import sys

sys.path.insert(0, "tools/testing")
from program import (ROOT, SHORT_STUDY, SMALL_STUDY, TEMPORARY, Program, ProgramTest, children_of,  # noqa: E402
                     flip_bit, main, wait_for)

# Seconds of work on one core: 1,200 training images, all parts of the OpenAUC method.
SPEC = SHORT_STUDY.replace("softmax", "openauc").replace("epochs: 4", "epochs: 3")
SPEC += "metric { openauc {} } seed: [0, 1]"
RUN = "run study.textproto"


def replaced(text, *changes):
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


class RunTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.undisturbed = Program(TEMPORARY / "RunTest.undisturbed")
        cls.undisturbed.write("study.textproto", SPEC)
        cls.undisturbed.must_run(RUN)
        cls.records = cls.undisturbed.records()

    def setUp(self):
        super().setUp()
        self.write("study.textproto", SPEC)

    def files(self, folder):
        return self.program.files("openset-store/" + folder)

    def copy_undisturbed(self):
        shutil.copytree(self.undisturbed.store, self.program.store)

    def kill_workers(self, process):
        for worker in children_of(process.pid):
            os.kill(worker, signal.SIGKILL)

    def test_two_runs_give_the_same_bits(self):
        self.out(RUN)
        self.assertEqual(len(self.records), 2)
        self.assertEqual(self.program.records(), self.records)
        report = "openset-store/reports/study/report.json"
        self.assertEqual(self.read(report), self.undisturbed.read(report))

    def test_does_not_repeat_results(self):
        self.out(RUN)
        records, files = self.program.records(), self.files("")
        self.says(self.out(RUN), "study: all 2 trials are done; nothing to run.")
        self.assertEqual(self.program.records(), records)
        self.assertEqual(len(self.files("")), len(files))
        self.says(self.out("status study.textproto"), "study: 2 of 2 trials done, 0 left")
        self.assertEqual([action["needed"] for action in self.json("plan study.textproto")["actions"]], [False] * 6)

    # A record contains everything needed to reproduce it, and who made it, for each stage.
    def test_a_record_is_complete(self):
        record = self.undisturbed.record(min(self.records))
        self.assertEqual((record["counts"]["known"], record["counts"]["unknown"]), (str(6 * 50), str(4 * 50)))
        self.assertEqual(len(record["epoch"]), 3)
        self.assertEqual(record["trial"]["method"]["training"]["optimizer"]["sgd"]["momentum"], 0.9)
        self.assertEqual(len(record["checkpoint_sha256"]), 64)
        stages = record["provenance"]["stage"]
        self.assertEqual(len(stages), 3)
        self.assertEqual(stages[0]["key"], record["checkpoint_key"])
        self.assertNotEqual(stages[0]["libtorch_version"], "")
        self.assertNotIn("libtorch_version", stages[2])
        for stage, program in ((stages[0], "openset_worker_unstamped"), (stages[2], "openset_unstamped")):
            self.assertEqual(stage["program_sha256"],
                             hashlib.sha256((ROOT / "tools" / program).read_bytes()).hexdigest())
        for stage in stages:
            self.says(stage["libraries"], "eigen ", ", jpeg ", ", protobuf ")
            self.assertEqual(stage["commit"], "unknown")  # tests run programs without a stamp
            self.assertEqual((stage["threads"], stage["failed_attempts"]), (1, 0))
            self.assertGreater(stage["cpu_seconds"], 0)
            self.assertGreater(int(stage["peak_memory_bytes"]), 1 << 20)
            for component in stage["component"]:
                self.assertEqual(len(component["fingerprint"]), 64, component)
                self.assertGreaterEqual(component["revision"], 1, component)
        for stage, components in (
                (stages[0], "AugmentationSpec.horizontal_flip AugmentationSpec.rand_augment "
                 "AugmentationSpec.random_crop AugmentationSpec.resize HeadSpec.linear LossTermSpec.cross_entropy "
                 "LossTermSpec.open_auc ModelSpec.osrci_cnn OpenSetSpec.feature_mixup OptimizerSpec.sgd "
                 "ScheduleSpec.constant"),
                (stages[2], "MetricSpec.accuracy MetricSpec.auroc MetricSpec.openauc ScoreSpec.max_logit")):
            self.assertEqual(sorted(f"{one['family']}.{one['name']}" for one in stage["component"]), components.split())

    # The results for other programs, as a page, and as figures.
    def test_results_in_other_formats(self):
        self.copy_undisturbed()
        cells = self.json("report study.textproto")["cells"]
        self.assertEqual((len(cells), cells[0]["n"], cells[2]["metric"]), (3, 2, "openauc"))
        tidy = self.out("report study.textproto --format=csv --tidy")
        self.assertTrue(tidy.startswith("trial,method,task,split,seed,known_classes,unknown_classes,openness,"), tidy)
        self.assertEqual(tidy.count("\n"), 1 + 3 * 2)
        page = self.out("report study.textproto --format=html")
        self.says(page, 'data-chart="loss"', 'data-chart="roc"', '"sheet":"data:image/png;base64,')
        self.says(page, '"symbolLimit":0')  # legends have all names
        # The three epochs are 1 to 3, as in the progress of a run.
        epochs = re.findall(r'"title":"epoch","axis":\{[^}]*"values":\[([^]]*)\]', page)
        self.assertEqual({tuple(map(float, ticks.split(","))) for ticks in epochs}, {(1, 2, 3)})
        self.out("figure study.textproto --curve=loss --out=loss.pdf")
        self.assertTrue(self.read("loss.pdf").startswith("%PDF"))
        self.out("figure study.textproto --curve=oscr --out=oscr.svg")
        self.says(self.read("oscr.svg"), "known samples accepted and right")
        self.fails("report study.textproto --format=tensorboard", 2)  # no --out
        self.out("report study.textproto --format=tensorboard --out=events")
        self.fails("figure study.textproto --curve=lost", 2, "did you mean 'loss'")
        self.fails("report study.textproto --format=htm", 2)

    def test_ends_with_the_same_records_if_killed_at_any_point(self):
        self.program.run_with_kills(RUN, 1)
        self.assertEqual(self.program.records(), self.records)
        self.assertEqual(self.files("partial"), [])

    def test_a_killed_worker_fails_only_its_trials(self):
        process = self.program.start(RUN + " --jobs=1 --retries=0")
        # After the first epoch is saved, the next run resumes from it.
        key = wait_for(lambda: self.files("partial"))[0].name.split(".")[0]
        log = f"openset-store/logs/{key}.log"  # of the training
        self.write(log, "a warning\n")
        self.kill_workers(process)
        self.ends(process, 1)
        self.says(self.read("out.txt"), "FAILED to train", f"; log: {self.program.path(log)}")
        self.says(self.read("err.txt"), "1 action failed")
        self.assertEqual(len(self.program.records()), 1)  # the other seed's
        self.says(self.out("status study.textproto"), "its worker was killed by signal 9")
        self.out(RUN)
        self.assertEqual(self.program.records(), self.records)
        self.says(self.out("status study.textproto"), "2 of 2 trials done")

    def test_a_killed_worker_is_replaced_and_its_training_resumes(self):
        process = self.program.start(RUN + " --jobs=1")
        wait_for(lambda: self.files("partial"))
        self.kill_workers(process)
        self.ends(process, 0)
        self.says(self.read("out.txt"), "will be retried in 1s: train openauc")
        self.assertEqual(self.program.records(), self.records)
        self.assertEqual(len(self.files("attempts")), 1)

    # A study with changes by the command line is a different study, also for `status`.
    def test_status_distinguishes_a_variant_from_its_study(self):
        process = self.program.start(RUN + " --jobs=1 --set=training.epochs=200")
        wait_for(lambda: self.files("partial"))
        self.says(self.out("status study.textproto"), "running a variant, study --set=training.epochs=200, by ")
        self.says(self.out("status study.textproto --set=training.epochs=200"), "running by ")
        self.says(self.out("status"), "running study --set=training.epochs=200, by ")
        # Killed before its first record, the variant is still there.
        process.kill()
        process.wait()
        for command in ("status", "status study.textproto"):
            status = self.out(command)
            self.says(status, "killed: study --set=training.epochs=200, by ",
                      "; the same command continues it")
            self.says_not(status, "running study", "running a variant")

    def test_two_runs_share_the_work_and_report_it(self):
        process = self.program.start(RUN + " --jobs=1")
        wait_for(lambda: self.files("partial"))
        # In another terminal: what the first run is doing.
        second = self.another_program("second")
        second.write("study.textproto", SPEC)
        store = f" --store={self.program.store}"
        self.says(second.must_run("status study.textproto" + store).out, f", process {process.pid}, for ")
        other = second.must_run(RUN + " --jobs=1" + store).out
        self.ends(process, 0)
        self.says(other.replace("\n  ", " "), f"process {process.pid} also runs it",
                  "This process shares the work: it takes what is unclaimed, and uses the other's results.")
        self.assertEqual(self.program.records(), self.records)
        # Each action was done by one run and found by the other, unless the result existed when that one began.
        lines = self.read("out.txt").splitlines() + other.splitlines()
        for verb in ("] trained", "] inferred", "] evaluated"):
            done = [line for line in lines if verb in line and "by another process" not in line]
            self.assertEqual(len(done), 2, lines)
        self.assertEqual(self.files("running") + self.files("runs"), [])

    def test_corrupt_results_are_quarantined_and_made_again(self):
        self.copy_undisturbed()
        record = self.files("records")[0]
        flip_bit(record)
        # The report uses the intact results and lists the others.
        report = self.fails("report study.textproto", 1,
                            "1 result is corrupt and left out; 'openset run study.textproto' makes")
        self.says(report.out, str(record))
        self.says(self.out("status study.textproto"), "1 of 2 trials done, 1 left", "1 result is corrupt")
        self.says(self.out("plan study --noprobe"), f"corrupt, to be made again: {record}")
        self.assertEqual(self.files("quarantine"), [])
        self.says(self.out(RUN), "0 trainings, 0 inferences, 1 evaluation,", "moved to ")
        self.assertEqual(self.program.records(), self.records)
        self.assertEqual(len(self.files("quarantine")), 2)
        self.says(self.out("status study.textproto"), "in quarantine: 1")
        self.out("report study.textproto")
        # The inputs of a missing record are checked before they are used.
        record.unlink()
        for file in self.files("outputs") + self.files("checkpoints"):
            if file.suffix in (".npz", ".safetensors"):
                flip_bit(file)
        self.says(self.out(RUN), "1 training, 1 inference, 1 evaluation,")
        self.assertEqual(self.program.records(), self.records)


class UntilTest(ProgramTest):
    # `slow` stays at chance, far below `plain`, and is decided at the first look; `near` is like `plain`, and goes on.
    def test_runs_until_comparisons_are_decided_also_if_killed(self):
        killed = self.another_program("killed")
        for program in (self.program, killed):
            for name, rate in (("plain", "0.02"), ("near", "0.019"), ("slow", "0.000001")):
                program.write(f"methods/{name}.textproto", f"name: '{name}' base: 'softmax' "
                              f"training {{ optimizer {{ learning_rate: {rate} }} }}")
            program.write("study.textproto", replaced(
                SHORT_STUDY, ('"softmax" split: 0', "['plain', 'slow', 'near'] split: [0, 1, 2]"),
                ("learning_rate: 0.02", "")) + "seed: 0 until { metric { accuracy {} } difference: 1 max_splits: 5 }")
        out = self.out(RUN)
        self.says(out, "until: 0 of 2 comparisons are finished; next look: 3 splits, 1 seed.\n")
        found = self.program.report("study")["until"]
        slow, near = found["comparisons"]
        self.assertEqual([slow[key] for key in ("row", "verdict", "looks", "splits")], ["slow", "lower", 1, 3])
        self.assertLess(slow["high"], 0)
        # A look at 3, 4 and 5 splits.
        splits, trials = near["splits"], found["trials"]
        self.assertEqual(near["looks"], splits - 2)
        self.assertEqual(trials, 3 + 2 * splits)
        self.assertEqual(len(self.program.records()), trials)
        self.says(out, f"\nSpent: {trials} of at most 15 trials (")
        self.says_not(self.out(RUN), "] trained ")
        killed.run_with_kills(RUN, 4)
        self.assertEqual(killed.records(), self.program.records())
        self.assertEqual(killed.report("study")["until"], found)


class StopTest(ProgramTest):
    """Stops a run in each way that a user has: finished work stays, no process remains, the same command continues."""

    def test_every_way_ends_cleanly_and_resumes(self):
        undisturbed = self.another_program("undisturbed")
        for program in (undisturbed, self.program):
            program.write("study.textproto", SHORT_STUDY + "seed: [0, 1, 2]")
        undisturbed.must_run(RUN)
        for what, signals in (("Ctrl-C", [signal.SIGINT]), ("Ctrl-C twice", [signal.SIGINT] * 2),
                              ("SIGTERM", [signal.SIGTERM]), ("SIGHUP", [signal.SIGHUP]), ("a closed terminal", [])):
            with self.subTest(what):
                if signals:
                    pid = self.program.start(RUN + " --jobs=1").pid
                else:
                    pid, terminal = self.program.start_on_terminal(RUN + " --jobs=1")
                workers = wait_for(lambda: children_of(pid))
                for one in signals:
                    os.kill(pid, one)
                if not signals:
                    os.close(terminal)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
                for worker in workers:
                    with self.assertRaises(ProcessLookupError):
                        os.kill(worker, 0)
                if signals:
                    self.says(self.read("err.txt"), "the same command continues from here")
                self.assertEqual(list((self.program.store / "running").iterdir()), [])
        self.out(RUN)
        self.assertEqual(self.program.records(), undisturbed.records())


HALVED = SHORT_STUDY.replace("fashion_mnist_6_4", "fashion_and_gradients").replace(
    "train_limit_per_class: 200", "train_limit_per_class: 100 validation_per_class: 50 seed: 0")
SEARCH = """
search {
  method: "softmax"
  axis { path: "training.optimizer.learning_rate" value: ["0.001", "0.05", "0.01"] }
  criterion { accuracy {} }
  halving { rungs: [1, 2, 4] keep: 0.5 }
}
"""

# Trials with more than one training and one inference: a training that starts from another one, external images, a
# generator, views, a search. Seconds of work: tiny networks, generated external images.
STAGES = """
name: "stages" task: "fashion_and_gradients" split: 0 seed: 0
method: ["energy", "arpl_cs", "augmix", "odin_unified_benchmark"]
override {
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  pretraining { training { epochs: 2 batch_size: 32 optimizer { learning_rate: 0.02 } } }
  training { epochs: 2 batch_size: 32 optimizer { learning_rate: 0.002 } }
}
axis { path: "model.resnet_cifar.width" value: "2" method: ["energy", "augmix", "odin_unified_benchmark"] }
axis { path: "model.vgg32.width" value: "4" method: "arpl_cs" }
axis { path: "open_set.confusing_images.width" value: "2" method: "arpl_cs" }
validation_per_class: 10
search {
  method: "odin_unified_benchmark"
  axis {
    path: "inference.input_perturbation.temperature"
    also: "score.temperature_scaled_softmax.temperature"
    value: ["1", "1000"]
  }
  axis { path: "inference.input_perturbation.epsilon" value: ["0", "0.1"] }
  criterion { auroc {} }
}
train_limit_per_class: 30
test_limit_per_class: 20
metric { accuracy {} }
metric { auroc {} }
"""


class SearchTest(ProgramTest):
    def tuned_record(self, program):
        """The one record of a tuned trial."""
        tuned = [record for record in map(program.record, program.records()) if "search" in record["trial"]]
        self.assertEqual(len(tuned), 1)
        return tuned[0]

    def test_a_halved_search_ends_with_the_bits_of_training_the_chosen_values_alone(self):
        alone = self.another_program("alone")
        for program in (self.program, alone):
            program.write_external_images()
        self.write("study.textproto", HALVED + SEARCH)
        self.says(self.out(RUN + " --data=data"),
                  "of each search are measured 3 after 1 epoch, 2 after 2 epochs, 1 after 4 epochs",
                  "softmax on fashion_and_gradients, split 0, seed 0, learning_rate ", ", stopped after 2 epochs (")
        tuned = self.tuned_record(self.program)
        candidates = tuned["trial"]["search"]["candidate"]
        self.assertEqual(len(candidates), 3)
        chosen = candidates[tuned["trial"]["search"]["chosen"]]
        self.assertEqual(len(chosen["rung"]), 3)

        alone.write("study.textproto",
                    replaced(HALVED, ("learning_rate: 0.02", f"learning_rate: {chosen['axis'][0]['value']}")))
        alone.must_run(RUN + " --data=data")
        whole = alone.record(*alone.records())
        for field in ("trial_id", "checkpoint_sha256", "metric"):
            self.assertEqual(whole[field], tuned[field])

    # A killed training continues from its last saved epoch, a stopped one from its last step.
    def test_stages_end_with_the_same_records_if_killed_or_stopped(self):
        killed, stopped = self.another_program("killed"), self.another_program("stopped")
        for program in (self.program, killed, stopped):
            program.write_external_images()
            program.write("stages.textproto", STAGES)
        run = "run stages.textproto --data=data"
        self.says(self.out(run), "4 of them are candidates of searches; tuned trials after them: 1")
        killed.run_with_kills(run, 2)
        stopped.run_with_kills(run, 3, signal.SIGTERM)
        records = self.program.records()
        self.assertEqual(len(records), 4 + 4 + 1)
        self.assertEqual(killed.records(), records)
        self.assertEqual(stopped.records(), records)

        # The tuned trial is in the tables, with what was chosen; its log is in its record.
        report = self.program.report("stages")
        self.assertEqual((report["trials"], len(report["searches"])), (5, 1))
        self.says(report["searches"][0],
                  "odin_unified_benchmark (tuned) on fashion_and_gradients, split 0, seed 0: temperature 1")
        candidates = self.tuned_record(self.program)["trial"]["search"]["candidate"]
        self.assertEqual(len(candidates), 4)
        self.assertLessEqual({candidate["trial_id"] for candidate in candidates}, records.keys())
        self.says(self.out(run), "all 5 trials are done; nothing to run.")

    # This takes about a second. The task has no unknown classes for validation, so the criterion is accuracy.
    def test_reproduce_skips_candidates_of_searches(self):
        self.write("tasks/mine.textproto",
                   "name: 'mine' data_set: 'fashion_mnist' split { known: [0, 1, 2] unknown: [3, 4] }")
        self.write("specs/study.textproto", replaced(SMALL_STUDY, ("fashion_mnist_6_4", "mine")) +
                   "validation_per_class: 5 search { method: 'mcp' criterion { accuracy {} } "
                   "axis { path: 'training.optimizer.learning_rate' value: ['0.02', '0.05'] } }")
        self.out("run specs/study.textproto")
        # softmax, two candidates, and the trial of the one that was chosen
        self.assertEqual(len(self.program.records()), 4)
        # They are no results.
        self.says(self.out("records ls"), "2 of 4 records", "2 candidates of searches left out: openset records ls "
                  "'measured_on=validation' lists")
        listed = self.out("records ls measured_on=validation")
        self.says(listed, " validation", "2 of 4 records")
        self.says_not(listed, "left out")
        self.assertEqual(len(self.json("records ls")), 2)
        self.out("records export --bundle=all.zip")
        self.says(self.out("reproduce all.zip --trials=0"), "2 candidates of searches left out",
                  "2 of 2 trials reproduced")


if __name__ == "__main__":
    main()
