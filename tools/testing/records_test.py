#!/usr/bin/env python3
"""Records through the program: ls, show, explain, export, merge, rm, verify and gc; errors and overrides of a spec."""
import os
import re
import shutil
import sys

sys.path.insert(0, "tools/testing")
from program import ROOT, SMALL_STUDY, TEMPORARY, Program, ProgramTest, changed_record, main, shipped  # noqa: E402

RUN = "run study.textproto"


def study(old, new):
    assert SMALL_STUDY.count(old) == 1, old
    return SMALL_STUDY.replace(old, new)


class RecordsTest(ProgramTest):
    def run_study(self):
        self.write("study.textproto", SMALL_STUDY)
        self.out(RUN)

    def copy_released_store(self):
        shutil.copytree(ROOT / "experiments/store/testdata/version_3", self.program.store, copy_function=shutil.copy)

    def test_remove_by_query_and_by_size(self):
        self.run_study()
        self.says(self.out("records rm method=mcp --dry_run"), "would remove 1 of 2 records;")
        # Without a terminal, nobody can be asked.
        self.fails(["records", "rm", "method='mcp'"], 2, "this removes 1 of 2 records of ",
                   r"openset records rm 'method='\''mcp'\'''", f" --store='{self.program.store}' --yes")
        for blank in ("", " ", "\t \n"):
            for action, more in (("rm", ["--yes"]), ("ls", []), ("export", ["--bundle=all.zip"])):
                self.fails(["records", action, blank, *more], 2, "the query is blank")
        remove = "records rm method=mcp --yes"
        self.fails("records rm 'trial=a or method=mcp' --yes", 2, "first 4 digits")
        self.assertEqual(len(self.program.records()), 2)
        self.says(self.out(remove), "removed 1 of 2 records;")
        self.assertEqual(len(self.program.records()), 1)
        self.fails(remove, 2, "matches")
        self.fails("records rm", 2, "usage: openset records rm QUERY")
        # Everything is younger than an hour.
        self.fails("records gc --max_size=1kB", 1, "the store still has ", "more than --max_size=1kB")
        self.out("records gc --max_size=1GB")
        self.fails("records gc --max_size=big", 2, "--max_size: 'big' is not a size")

    def test_say_what_is_missing(self):
        self.copy_released_store()
        # A share, not a percentage.
        self.says(self.program.must_run("records ls openauc>90").err, "hint: 'openauc>90': openauc is a share, from "
                  "0.8125 to 0.8125 in these records: 90 % is 0.9\n")
        self.assertEqual(self.program.must_run("records ls openauc>0.9").err, "")
        self.fails("records diff 242d", 2, "has one record of trial 242d01b1")
        # Outputs that a bundle doesn't have.
        self.out("records export --bundle=all.zip")
        absent = self.fails("export outputs 242d mine --store=all.zip", 2,
                            "all.zip has the record of trial 242d01b1370c, but not its outputs; 'openset reproduce ")
        self.says_not(absent.err, "/outputs/")
        self.assertFalse(self.program.path("mine").exists())
        # The store of a run that failed at once, and a folder that is no store.
        self.program.path("failed/tmp").mkdir(parents=True)
        self.program.path("other").mkdir()
        self.write("failed/version", self.read("openset-store/version"))
        self.says(self.out("records merge failed"), "0 new trials")
        self.fails("records merge other", 2, "other is neither a store nor a bundle")

    def test_remove_asks_on_a_terminal(self):
        self.copy_released_store()
        kept = 2, "nothing was removed", 2
        for answer, (code, said, left) in (("\n", kept), ("no\n", kept), ("\x04", kept),
                                           ("y\n", (0, "removed 1 of 2 records", 1))):
            result = self.program.run_on_terminal("records rm method=openauc", 0, answer)
            self.assertEqual(result.code, code, result)
            self.says(result.out, "Remove 1 of 2 records of ", "[y/N]", said)
            self.assertEqual(len(self.program.records()), left)

    # Names of studies are texts, also if they look like numbers, and seeds are integers beyond the digits of a double.
    def test_texts_and_integers_stay_what_they_are(self):
        self.copy_released_store()
        record, = [path for path in self.program.files("openset-store/records") if path.stem.startswith("242d")]
        for letter, name, seed in (("a", "2024.10", 2**53), ("b", "2024.1", 2**53 + 1), ("c", "inf", 2**64 - 1)):
            self.write(f"store/records/{2 * letter}/{64 * letter}.rec", changed_record(
                record, f"trial_id {64 * letter}", f"trial.experiment '{name}'", f"trial.seed {seed}"))
        self.write("store/version", self.read("openset-store/version"))
        rows = self.json("records ls --store=store")
        self.assertEqual([(row["experiment"], row["seed"], row["openauc"]) for row in rows],
                         [("2024.10", 2**53, 0.8125), ("2024.1", 2**53 + 1, 0.8125), ("inf", 2**64 - 1, 0.8125)])
        for query in ("experiment=2024.100", "seed=9007199254740994", "experiment=Infinity"):
            self.fails(f"records rm {query} --yes --store=store", 2, "no record of")
        for query in ("experiment=2024.1", "seed=9007199254740992"):
            self.says(self.out(f"records rm {query} --yes --store=store"), "removed 1 of ")
        self.assertEqual(len(self.program.files("store/records")), 1)

    # A deployment's size: results that a run no longer needs are removed even if they are new; records stay.
    def test_a_run_keeps_the_store_small(self):
        self.write("study.textproto", SMALL_STUDY)
        self.write("small.textproto", "store_gb: 1e-6")
        run = self.program.must_run(RUN + " --deploy=small.textproto")
        self.says(run.out, "store_gb: removed ")
        self.says(run.err, "more than store_gb: the rest is records")
        records = self.program.records()
        self.assertEqual(len(records), 2)
        self.fails(f"export outputs {min(records)} here", 2, "no longer exists")
        self.says(self.out(RUN), "nothing to run")
        self.assertEqual(self.program.records(), records)

    def test_a_run_with_failures_keeps_the_store_small_too(self):
        self.write("methods/bad.textproto",
                   "name: 'bad' base: 'softmax' training { optimizer { learning_rate: 1e20 } }")
        self.write("study.textproto", study('"mcp"', '"bad"').replace("learning_rate: 0.02", ""))
        self.write("small.textproto", "store_gb: 1e-6 retries: 0")
        self.fails(RUN + " --deploy=small.textproto", 1, "more than store_gb: the rest is records")

    # A bundle contains everything needed to reproduce its trials on a machine without the study and its task, and on
    # request their outputs and checkpoints.
    def test_bundles_contain_library_and_outputs(self):
        self.write("tasks/mine.textproto",
                   "name: 'mine' data_set: 'fashion_mnist' split { known: [0, 1, 2] unknown: [3, 4] }")
        self.write("specs/study.textproto", study("fashion_mnist_6_4", "mine"))
        self.out("run specs/study.textproto")
        written = self.program.must_run("records export --bundle=all.zip --with=outputs,checkpoints")
        self.assertEqual(written.err, "")
        other = self.another_program("other")
        shutil.copy(self.program.path("all.zip"), other.folder)
        first, last = self.program.records()
        # Without them the task is unknown there.
        self.assertEqual(other.run("task splits mine").code, 2)
        # What it prints runs where the bundle lies, without a library.
        bare = self.another_program("bare")
        bare.write("again.textproto", other.must_run(f"records spec all.zip {first[:8]}").out)
        shutil.copy(self.program.path("all.zip"), bare.folder)
        self.says(bare.must_run("run again.textproto").out, "1 training, 1 inference, 1 evaluation,")
        again, original = bare.record(*bare.records()), self.program.record(first)
        for field in ("trial_id", "outputs_sha256", "metric"):
            self.assertEqual(again[field], original[field])
        self.says(other.must_run("reproduce all.zip --trials=1").out,
                  "1 of 1 trial reproduced to the bit; the bundle has 2 trials (--trials=0 runs all)\n")
        self.says(other.must_run(f"reproduce all.zip {last[:8]}").out, last[:12], "1 of 1 trial reproduced")
        self.says(other.run("reproduce all.zip zzzz").err, "'zzzz' is not a trial")
        self.says(other.must_run("records merge all.zip --store=merged").out, "2 new trials",
                  "2 new checkpoints, 2 new outputs")
        # The same outputs from the store, the store with the merged bundle, and the bundle.
        self.out(f"export outputs {first[:8]} here")
        for folder, store in (("here", "merged"), ("packed", "all.zip")):
            other.must_run(f"export outputs {first[:8]} {folder} --store={store}")
            self.assertEqual(other.path(f"{folder}/outputs.npz").read_bytes(),
                             self.program.path("here/outputs.npz").read_bytes())
        other.must_run("records verify --store=merged")
        # What a bundle contains has a size, as in a store.
        status = other.must_run("status --store=all.zip").out
        self.assertRegex(status, "study +2 +[^ ]+ +[0-9: -]+ [0-9.]+ [kM]B\n")
        self.assertRegex(status, "disk: bundle [0-9.]+ kB, records [0-9.]+ kB, outputs [0-9.]+ [kM]B, checkpoints ")
        self.says_not(status, " 0 B")
        # The bundle is read like the store that has its records.
        self.says(other.must_run("records verify all.zip").out,
                  "2 records, 0 replicas, 2 checkpoints, 2 outputs, 0 failed attempts: 0 corrupt\n",
                  "sha256 of the content")
        for command in ("records ls --format=csv", f"records diff {first} {last}",
                        f"records show {first} --format=json", "report method=mcp --format=csv",
                        "report specs/study.textproto --format=csv", "compare specs/study.textproto"):
            of_store, of_bundle = self.run_program(command), self.run_program(command + " --store=all.zip")
            self.assertEqual((of_bundle.code, of_bundle.out), (of_store.code, of_store.out), of_bundle)
        other.must_run("records export --store=all.zip --bundle=same.zip --with=outputs,checkpoints")
        self.assertEqual(other.path("same.zip").read_bytes(), other.path("all.zip").read_bytes())
        for command in ("records gc", "records rm split=0 --yes", "records merge merged", "run mine"):
            result = other.run(command + " --store=all.zip")
            self.assertEqual(result.code, 2, result)
            self.says(result.err, "all.zip is a bundle, which is read-only: 'openset records merge all.zip")
        self.fails("records export --bundle=x.zip --with=output", 2,
                   "--with: unknown addition 'output'; did you mean 'outputs'?")
        # A study whose file has changed since did not make the record.
        self.write("specs/study.textproto", study("fashion_mnist_6_4", "mine") + " ")
        self.says(self.program.must_run("records export --bundle=y.zip").err,
                  "left out: specs/study: has changed since")

    # A record names one study. Two studies share a trial, whose record names the one that ran first.
    def test_export_of_a_study_has_all_of_its_trials(self):
        self.write("b.textproto", study('name: "study"', 'name: "b"').replace('["softmax", "mcp"]', '"mcp"'))
        self.write("a.textproto", study('name: "study"', 'name: "a"'))
        self.out("run b.textproto")
        self.out("run a.textproto")
        self.assertEqual(sorted((record["experiment"], record["method"]) for record in self.json("records ls")),
                         [("a", "softmax"), ("b", "mcp")])
        by_name = self.program.must_run("records export experiment=a --bundle=name.zip")
        self.says(by_name.out, "name.zip: 1 trial\n")
        self.says(by_name.err, "hint: the bundle lacks 1 trial of a that runs of b made: 'openset records export "
                  "SPEC.textproto' exports")
        self.says_not(self.program.must_run("records export experiment=b --bundle=name.zip").err, "hint: ")
        whole = self.program.must_run("records export a.textproto --bundle=a.zip")
        self.says(whole.out, "a.zip: 2 trials\n")
        self.says_not(whole.err, "hint: ", "left out: ")
        self.assertEqual({record["method"] for record in self.json("records ls a.zip")}, {"softmax", "mcp"})
        # With the spec, by which the trials are found again.
        self.says(self.out("status a.textproto --store=a.zip"), "a: 2 of 2 trials done")
        self.says(self.out("records export b.textproto --bundle=b.zip"), "b.zip: 1 trial\n")
        self.out("records rm method=softmax --yes")
        self.says(self.program.must_run("records export a.textproto --bundle=a.zip").err,
                  "hint: 1 of 2 trials of the study a have no record\n")
        self.refused("records export nothing --bundle=c.zip", "unknown study 'nothing'")
        self.refused("records export nowhere.textproto --bundle=c.zip", "nowhere.textproto")

    # A finished search is not planned again. Of the study's 1200 trials, 21 were not run, and some are the same.
    def test_export_of_a_study_has_the_candidates_of_its_searches(self):
        folder = ROOT / "results/openauc_term"
        result = self.program.must_run(["records", "export", folder / "openauc_term.textproto",
                                        f"--store={folder / 'openauc_term.zip'}", "--bundle=all.zip"])
        self.says(result.out, "all.zip: 1680 trials\n")
        self.says(result.err, "hint: 21 of 981 trials of the study openauc_term have no record\n")

    def test_list_says_what_the_command_line_changed(self):
        self.run_study()
        self.says_not(self.out("records ls"), "changed")
        self.assertEqual({record["changed"] for record in self.json("records ls")}, {""})
        self.out(RUN + " --set=training.epochs=2 --methods=mcp")
        self.assertEqual({(record["method"], record["changed"]) for record in self.json("records ls")},
                         {("softmax", ""), ("mcp", ""), ("mcp", "--set=training.epochs=2 --methods=mcp")})
        lines = self.out("records ls").splitlines()
        self.assertEqual(lines[0].split()[-3:], ["changed", "accuracy", "auroc"])
        self.assertEqual(sum("--set=training.epochs=2 --methods=mcp" in line for line in lines), 1)
        self.assertIn("changed", self.out("records ls --format=csv").split("\n")[0].split(","))
        self.says(self.out("records ls changed~epochs"), "1 of 3 records")
        self.says(self.out(["records", "ls", "changed='' and method=mcp"]), "1 of 3 records")

    def test_queries_know_their_fields_and_have_no_parentheses(self):
        self.copy_released_store()
        for query in ("tag=x", "changed~epochs", "stop_after_epochs>3", "former_trial=ab", "host=nowhere"):
            self.says(self.out(["records", "ls", query]), "0 of 2 records")
        self.fails("records ls tagg=x", 2, "unknown field of these records 'tagg'")
        for query in ("(seed=7 or seed=8) and split=1", "split=1 and (seed=7 or seed=8)"):
            self.fails(["records", "ls", query], 2, "a query has no parentheses; `and` binds before `or`")
        # As it says: of seed 7, and of seed 8 with split 0.
        self.says(self.out(["records", "ls", "seed=7 or seed=8 and split=0"]), "1 of 2 records")

    def test_merge_checks_everything_first(self):
        self.copy_released_store()
        self.out("records export --bundle=good.zip")
        good = self.program.path("good.zip").read_bytes()
        self.program.path("cut.zip").write_bytes(good[:-100])
        self.program.path("other").mkdir()
        for wrong in ("cut.zip", "other", "nowhere.zip"):
            self.fails(f"records merge good.zip {wrong} --store=new", 2, wrong)
            self.assertFalse(self.program.path("new").exists(), wrong)
        self.says(self.out("records merge good.zip --store=new"), "2 new trials")

    # The bundle has the spec: its order of methods, and its number of trials.
    def test_report_of_a_bundle_follows_its_spec(self):
        self.run_study()
        self.out("records export study.textproto --bundle=all.zip")
        whole = self.out("report all.zip")
        self.assertLess(whole.index("\nsoftmax "), whole.index("\nmcp "))
        self.says_not(whole, "no record")
        self.out("records export method=mcp --bundle=part.zip")
        self.says(self.out("report part.zip"), "1 of 2 trials of the study study have no record in this bundle")
        # Without a spec: in alphabetical order.
        self.program.path("study.textproto").unlink()
        self.out("records export --bundle=alone.zip")
        alone = self.out("report alone.zip")
        self.assertLess(alone.index("\nmcp "), alone.index("\nsoftmax "))

    def test_two_bundles_are_compared_by_other_commands(self):
        self.copy_released_store()
        self.out("records export --bundle=one.zip")
        shutil.copy(self.program.path("one.zip"), self.program.path("two.zip"))
        for command in ("compare", "records diff"):
            self.fails(f"{command} one.zip two.zip", 2, "'openset records merge A.zip B.zip --store=NEW'",
                       "'openset records board OUT A.zip B.zip'")

    # Also after export and merge. New columns must be added to the expected file by hand.
    def test_of_a_released_version_give_the_same_table(self):
        self.copy_released_store()
        table = shipped("tools/testing/testdata/version_3.csv")
        self.says(table, "openauc,fashion_mnist_6_4,1,7,0.1,,0.8125,")
        self.assertEqual(self.out("records ls --format=csv"), table)
        self.out("records export --bundle=all.zip")
        self.out("records merge all.zip --store=other")
        self.assertEqual(self.out("records ls --format=csv --store=other"), table)

    def test_verify_and_collect_garbage(self):
        self.run_study()
        self.says(self.out("records verify"),
                  "2 records, 0 replicas, 2 checkpoints, 2 outputs, 0 failed attempts: 0 corrupt")
        # A method's name and title are labels: another title leaves the id as it is, and is named.
        self.says_not(self.run_program("records verify").err, "its title")
        record = self.program.files("openset-store/records")[0]
        kept = record.read_bytes()
        record.write_bytes(changed_record(record, "trial.method.title Our best one"))
        verified = self.run_program("records verify")
        self.assertEqual(verified.code, 0, verified)
        self.says(" ".join(verified.out.split()), "They cover what was computed, not labels: names and titles")
        self.assertRegex(verified.err, "^hint: method (softmax|mcp): its title in the records is 'Our best one'; "
                                       "it is '[^']+' in the library\n$")
        record.write_bytes(kept)
        checkpoint = next(path for path in self.program.files("openset-store/checkpoints")
                          if path.suffix == ".safetensors")
        os.truncate(checkpoint, checkpoint.stat().st_size - 1)
        looked = self.fails("records verify --dry_run", 1)
        self.says(looked.out, f"{checkpoint}: does not match its checksum\n")
        self.says(self.fails("records verify", 1).out, "/quarantine/1")
        self.out("records verify")
        self.says(self.out("status study.textproto"), "in quarantine: 1")

        self.write("openset-store/tmp/x.tmp.elsewhere.1.0", "x")
        self.says(self.out("records gc --dry_run"), "would remove 0")
        self.out("records gc")
        self.fails("records gc --older_than=-1", 2)
        # Where nothing can be written, nothing can be removed: here, tmp is a file.
        shutil.rmtree(self.program.store / "tmp")
        self.write("openset-store/tmp", "")
        stuck = self.run_program("records gc")
        self.assertNotEqual(stuck.code, 0)
        self.says(stuck.err, "nothing was removed: ")
        self.program.path("openset-store/tmp").unlink()
        self.fails("records sl", 2)
        self.fails("records ls --store=nowhere", 2)


class ShowTest(ProgramTest):
    """What is shown of the records of a study of two trials, and made of them. `self.trial`: the first one."""

    @classmethod
    def setUpClass(cls):
        cls.studied = Program(TEMPORARY / "studied")
        cls.studied.write("study.textproto", SMALL_STUDY)
        cls.studied.must_run(RUN)
        cls.trial = min(cls.studied.records())

    def setUp(self):
        super().setUp()
        shutil.copytree(self.studied.folder, self.program.folder, dirs_exist_ok=True)

    def test_lists(self):
        listed = self.out("records ls 'method=mcp and auroc>0' --sort=-auroc")
        self.says(listed, "fashion_mnist_6_4", "1 of 2 records")
        self.says_not(listed, "softmax")
        self.assertEqual([(row["trial"], row["experiment"]) for row in self.json("records ls")],
                         [(trial, "study") for trial in self.program.records()])
        self.fails("records ls auruc>0.5", 2, "did you mean 'auroc'?")
        self.fails("records ls auroc>high", 2, "auroc is a number, but 'high' is not")

    # All studies of the store, and their sizes; one study.
    def test_status(self):
        status = self.out("status")
        self.assertRegex(status, "\nstudy +2 +[^\n]* [0-9.]+ [kM]?B\n")
        self.says(status, "disk: ", "checkpoints ")
        self.assertTrue(status.endswith(f"nothing runs on the store {self.program.store}\n"), status)
        of_store = self.json("status --watch=1")
        self.assertEqual((of_store["studies"][0]["study"], of_store["studies"][0]["records"]), ("study", 2))
        self.assertEqual(of_store["running"], [])
        of_study = self.json("status study.textproto")
        self.assertEqual((of_study["done"], of_study["left"]), (2, 0))
        self.fails("status --format=xml", 2)

    # Methods are compared without an intermediate file. Their recipes have different weight decay.
    def test_comparisons(self):
        self.says(self.out("compare study.textproto"), "one run (fashion_mnist_6_4, split 0, seed 0)", "DeLong")
        first, last = self.program.records()
        differ = self.out(f"records diff {first} {last}")
        self.says(differ, "\nsettings\n  ", "\n  method.training.optimizer.weight_decay: ", "\ndata: the same\n")
        self.says_not(differ, "\n  method.augmentation")
        self.says(self.out(f"records diff {first} {first}"),
                  "\nsettings: the same\ndata: the same\nprogram and machine: the same\nmetrics: the same\n")
        self.fails(f"records diff {first}", 2)

    # A summary in words, and a study that finds the record again.
    def test_shows_a_record_and_makes_it_again(self):
        trial, short = self.trial, self.trial[:8]
        self.says(self.out(f"records show {short}"), f'trial_id: "{trial}', "ended_at_seconds", "spec_sha256")
        self.assertEqual(self.json(f"records show {trial}")["trial_id"], trial)
        self.says(self.out(f"records show {trial} --brief"), f"trial      {trial}",
                  "task       fashion_mnist_6_4, split 0, seed 0\n", "; AUROC, % ", "1 epochs, last objective ")
        self.write("again.textproto", self.out(f"records spec {short}"))
        self.says(self.out("run again.textproto"), f"again_{trial[:12]}: its trial is done; nothing to run.")
        # In another store it is made again, with the same numbers.
        self.says(self.out(f"reproduce {short}"),
                  ": same bits\n  accuracy: same bits\n  auroc: same bits\n  the same kind of ",
                  "\n1 of 1 trial reproduced to the bit\n")
        self.fails("reproduce 0000", 2)
        # With the kernels of another kind of CPU, the bits are not expected to be the same.
        if 'cpu_capability: "DEFAULT"' not in self.out(f"records show {trial}"):
            self.program.environment["ATEN_CPU_CAPABILITY"] = "default"
            self.says(self.run_program(f"reproduce {short} --again=slower").out, "another kind of CPU or GPU: ",
                      "DEFAULT this run, so that the")

    # The record is changed as if another machine had made it, beside made-up records of the other seeds, whose AUROCs
    # 0.49, 0.5 and 0.51 have the standard deviation 0.01, and whose accuracies 0.4, 0.5 and 0.6 have 0.1.
    def test_reproduce_judges_other_bits_by_the_spread_over_seeds(self):
        trial, path = self.trial, next(self.program.store.glob(f"records/*/{self.trial}.rec"))
        record = self.program.record(trial)
        accuracy, auroc = (metric["value"] for metric in record["metric"])
        eigen = re.search("eigen [^,]+", record["provenance"]["stage"][0]["libraries"])[0]
        libraries = record["provenance"]["stage"][0]["libraries"].replace(eigen, "eigen 0.1")

        def change_to(accuracy, auroc, outputs=64 * "e"):
            path.write_bytes(changed_record(
                path, f"metric[0].value {accuracy}", f"metric[1].value {auroc}", f"outputs_sha256 {outputs}",
                f"provenance.stage[0].component[0].fingerprint {64 * 'f'}",
                *(f"provenance.stage[{stage}].libraries '{libraries}'" for stage in range(3))))

        def reproduced(code, *parts):
            ran = self.run_program(f"reproduce {trial}")
            self.assertEqual(ran.code, code, ran)
            self.says(ran.out.replace("\n    ", " "), f"{trial[:12]}, ", *parts)
            return ran.out

        self.says_not(reproduced(0, "\n1 of 1 trial reproduced to the bit\n"), "made with other")
        change_to(accuracy + 0.05, auroc + 0.005)
        reproduced(1, ", seed 0: other bits, ", ": changed by -0.05, only 0 other stored runs of this method",
                   "\n0 of 1 trial reproduced to the bit; 1 other bits, ")
        for seed, (digit, of_accuracy, of_auroc) in enumerate((("a", 0.4, 0.49), ("b", 0.5, 0.5), ("c", 0.6, 0.51))):
            self.write(f"openset-store/records/{2 * digit}/{64 * digit}.rec", changed_record(
                path, f"trial_id {64 * digit}", f"trial.seed {seed + 1}", f"metric[0].value {of_accuracy}",
                f"metric[1].value {of_auroc}"))
        within = "same within the seed's spread"
        out = reproduced(1, f", seed 0: {within}\n", f"\n  accuracy: {within}: changed by -0.05, 0.5 times the standard "
                         "deviation over seeds of a split (0.1; 3 other runs on 1 split)",
                         f"\n  auroc: {within}: changed by -0.005, 0.5 times the standard deviation over seeds of a "
                         "split (0.01; 3 other runs on 1 split)",
                         f"\n0 of 1 trial reproduced to the bit; 1 {within}\n",
                         # Of libraries and components, only those that differ.
                         " made with other component: other sources of ModelSpec.osrci_cnn ",
                         f" made with other libraries: eigen 0.1; {eigen}\n")
        self.assertEqual(out.count("made with"), 2)
        change_to(accuracy + 0.05, auroc + 0.2)  # 20 standard deviations; |t| = 20 / sqrt(2) of 2 has p = 0.005
        reproduced(1, ", seed 0: different\n", f"\n  accuracy: {within}: ",
                   "\n  auroc: different: changed by -0.2, 20 times the standard deviation",
                   "\n0 of 1 trial reproduced to the bit; 1 different\n")
        change_to(accuracy, auroc + 0.005, record["outputs_sha256"])
        reproduced(1, ", seed 0: different\n", "\n  accuracy: same bits\n",
                   "\n  auroc: different: changed by -0.005, although the outputs have the same bits\n")

    def test_explains(self):
        trial = self.trial
        # The training has a log; the inference has none.
        log = f"openset-store/logs/{self.program.record(trial)['checkpoint_key']}.log"
        self.write(log, "a warning\n")
        explained = self.out(f"explain {trial}")
        self.says(explained, f"    its log: {self.program.path(log)}\n")
        self.assertEqual(explained.count("its log: "), 1)
        self.says(self.out(f"explain {trial} study.textproto"), str(self.program.path(log)))
        # First nothing has changed; then a field has.
        self.says(self.out(f"explain {trial[:8]}"), "nothing would run again")
        self.write("changed.textproto",
                   study('name: "study"', 'name: "changed"').replace("learning_rate: 0.02", "learning_rate: 0.05"))
        changed = self.json("plan changed.textproto")["trials"][0]["id"]
        self.says(self.out(f"explain {changed} changed.textproto"),
                  "method.training.optimizer.learning_rate: 0.05, was 0.02", "train ",
                  "runs: the store has no result with this key")
        self.says(self.run_program(f"explain {trial} changed.textproto").out,
                  "changed has no such trial; the nearest is")

    # Outputs are exported, and eval reads them.
    def test_exports_outputs_and_mistakes(self):
        trial = self.trial
        self.out(f"export outputs {trial} mine")
        self.out("eval mine/outputs.npz --metrics=auroc")
        self.says(self.read("mine/record.textproto"), trial)
        self.fails(f"export outputs {trial} mine", 2)
        # Which samples these are: 10 of each of 6 known and 4 unknown classes, the first in their part.
        samples = self.read("mine/samples.csv").splitlines()
        self.assertEqual(len(samples), 1 + 100)
        self.assertEqual(samples[0], "row,label,class,group,sample")
        self.assertRegex(samples[1], "^0,[0-5],[^,]+,,fashion_mnist: test [0-9]+$")
        self.assertRegex(samples[100], "^99,-1,[^,]+,[^,]+,fashion_mnist: test [0-9]+$")
        self.assertEqual(self.out("task samples fashion_mnist_6_4 --split=0 --test_limit=10 --format=csv"),
                         self.read("mine/samples.csv"))
        # The mistakes are among them.
        head, *mistakes = self.out(f"export mistakes {trial} --format=csv").splitlines()
        self.assertEqual(head, "kind,row,class,group,predicted,unknown_score,sample")
        self.assertGreaterEqual(len(mistakes), 10)
        for line in mistakes:
            kind, row, class_name, _, _, _, sample = line.split(",")
            _, label, class_of_row, _, sample_of_row = samples[int(row) + 1].split(",")
            self.assertEqual((class_name, sample), (class_of_row, sample_of_row))
            self.assertEqual(kind == "unknown taken for known", label == "-1", line)
        self.fails(f"export mistake {trial}", 2)
        # Those of the study's trials in one table, each of which says whose it is.
        head, *lines = self.out("export mistakes 'experiment=study' --format=csv").splitlines()
        self.assertEqual(head, "trial,method,task,split,seed,kind,row,class,group,predicted,unknown_score,sample")
        of_trial = [line.split(",", 5)[5] for line in lines if line.startswith(trial)]
        self.assertEqual(of_trial, mistakes)
        self.assertEqual({tuple(line.split(",")[1:5]) for line in lines},
                         {(method, "fashion_mnist_6_4", "0", "0") for method in ("mcp", "softmax")})
        self.fails("export mistakes split=7", 2, "no record of ")

    # Exports to another store and back, and a board of both, which have the same records.
    def test_bundles_merges_and_boards(self):
        self.says(self.out("records export --bundle=all.zip"), "all.zip: 2 trials", "sha256 ")
        self.says(self.out("records merge all.zip --store=other"), "2 new trials")
        self.says(self.out("records merge openset-store --store=other"), "2 there already")
        self.assertEqual(self.out("report study.textproto --store=other --format=csv"),
                         self.out("report study.textproto --format=csv"))
        self.assertEqual(self.out("records board site all.zip openset-store"), "site/index.html: 2 records\n")
        page = self.read("site/index.html")
        self.says(page, "2 trials, 2 records: 2 not rerun.")
        self.says_not(page, "<script")
        self.says(self.read("site/records.csv"), f"\n{self.trial},")
        self.out("records board site")  # of --store, in place of the first
        self.fails("records board all.zip", 2, "all.zip: is a bundle; first name the folder")
        self.fails("records board openset-store", 2, "openset-store: is a store; first")
        self.fails("records board", 2)
        with open(self.program.path("all.zip"), "ab") as bundle:
            bundle.write(b"x")
        self.fails("records board site all.zip", 2)
        self.fails("records merge all.zip --store=third", 2, "all.zip")


class SpecTest(ProgramTest):
    def test_mistakes_are_found_before_anything_is_written(self):
        metric, rate = "metric { auroc {} }", "training.optimizer.learning_rate"
        for old, new, message in (
                (metric, 2 * metric, "auroc is listed twice"),
                (metric, metric + "axis { path: 'training.epochs' value: ['1', '2'] } axis { path: 'training.epochs' "
                 "value: '3' }", "is swept by another axis already"),
                (metric, metric + f"axis {{ path: '{rate}' value: ['0.10', '0.1'] }}", "0.1 is the same value as 0.10"),
                ('name: "study"', 'name: "../study"', "is not a valid name"),
                ('name: "study"', 'name: ""', "is not a valid name"),
                (metric, metric + "expected_trials: 7", "expected_trials: is 7, but the study has 2 trials")):
            self.write("bad.textproto", study(old, new))
            for command in ("plan", "run"):
                self.fails(command + " bad.textproto", 2, "bad.textproto:", message)
                self.assertEqual(list(self.program.store.glob("*")), [])
                shutil.rmtree(self.program.store, ignore_errors=True)
            self.program.store.mkdir()
            self.fails("report bad.textproto", 2, "bad.textproto:", message)
            self.program.store.rmdir()  # it is empty
        self.fails("plan quickstart --data=/nope", 2, "--data: there is no folder /nope")
        self.fails("report quickstart --store=/nope", 2, "there is no store /nope")

    def test_refuses_the_name_of_another_study_in_the_store(self):
        self.write("a.textproto", SMALL_STUDY)
        self.write("b.textproto", study("seed: 0", "seed: 1"))
        self.out("run a.textproto")
        report = self.program.report("study")
        self.fails("run b.textproto", 2, "b.textproto:2: name: ", "reports of another study 'study'", "a.textproto")
        self.assertEqual(self.program.report("study"), report)
        # The spec may change, and move.
        self.program.path("a.textproto").rename(self.program.path("c.textproto"))
        self.out("plan c.textproto --noprobe")
        self.out("plan b.textproto --noprobe")

    def test_failed_trials_are_reported_and_can_be_selected(self):
        self.write("study.textproto", study("learning_rate: 0.02", "learning_rate: 1e20"))
        self.says(self.fails(RUN, 1).out,
                  "the training diverged: the loss is nan in epoch 1, at learning rate 1e+20")
        self.says(self.out("status study.textproto"), "in epoch 1: the training diverged")
        self.says(self.out(RUN + " --only=missing"),
                  "2 of 2 trials left, and --only selects none of them; nothing to run.")
        self.fails(RUN + " --only=failed", 1)
        plan = self.json("plan study.textproto --only=failed")
        self.assertEqual({action["needed"] for action in plan["actions"]}, {True})
        training = next(action["key"] for action in plan["actions"] if action["kind"] == "train")
        self.write(f"openset-store/partial/{training}.safetensors", "an epoch")
        self.says(self.out("status study.textproto"), "1 training has a saved state, from which it continues\n")
        self.says(self.out(f"explain {plan['trials'][0]['id']} study.textproto"),
                  "    2 attempts failed, the last one: the training diverged")

    def test_a_failed_run_keeps_a_fuller_report(self):
        self.write("study.textproto", SMALL_STUDY)
        self.out(RUN)
        report = self.program.report("study")
        for kind in ("records", "checkpoints", "outputs"):
            shutil.rmtree(f"{self.program.store}/{kind}")
        self.says(self.fails(RUN + " --worker=/bin/false --retries=0", 1).out,
                  "report.html; the tables beside it (report.{txt,md,tex,csv,json}, tidy.csv) are of an earlier run: it "
                  "has 2 results, this one 0")
        self.assertEqual(self.program.report("study"), report)
        # Of another spec, nothing stays.
        self.write("study.textproto", study("learning_rate: 0.02", "learning_rate: 0.05"))
        failed = self.fails(RUN + " --worker=/bin/false --retries=0", 1).out
        self.says(failed, "(all but report.html) are of another form of this study, until this run ends")
        self.says_not(failed, "of an earlier run")
        self.assertEqual(self.program.report("study")["missing"], 2)

    # Tags are no part of a trial: its id and its report stay, and a record keeps the tags of the run that made it.
    def test_tags_find_the_records_of_a_run(self):
        self.write("study.textproto", SMALL_STUDY)
        self.out(RUN + " --methods=softmax --tag=first,with_the_new_disk")
        later = self.out(RUN + " --tag=later")
        self.says(later, "/reports/study/report")
        self.says_not(later, "--tag")
        self.assertEqual({trial["id"] for trial in self.json("plan study.textproto")["trials"]},
                         self.program.records().keys())
        for query, method in (("tag=first", "softmax"), ("tag=with_the_new_disk and method=softmax", "softmax"),
                              ("tag=later", "mcp")):
            self.assertEqual([row["method"] for row in self.json(["records", "ls", query])], [method])
        self.says(self.out(f"records show {min(self.program.records())} --brief"), "tags")
        self.fails(RUN + " '--tag=a b'", 2, "--tag: ")

    def test_overrides_are_recorded_and_have_their_own_report(self):
        self.write("study.textproto", SMALL_STUDY)
        changes = ["--set=training.epochs=2", "--set=training.batch_size=32", "--seeds=3..4", "--methods=softmax"]
        flags = " ".join(changes).replace("--set=training.epochs", "--set training.epochs")
        self.says(self.out("plan study.textproto --noprobe " + flags), "study: 2 trials\n")
        out = self.out(f"{RUN} {flags}")
        trial = self.program.record(min(self.program.records()))["trial"]
        training = trial["method"]["training"]
        self.assertEqual((training["epochs"], training["batch_size"], trial["overrides"]), (2, 32, changes))
        self.assertFalse(self.program.path("openset-store/reports/study").exists())
        self.says(out, "/reports/study+epochs=2+batch_size=32+seeds=3..4+methods=softmax/")
        self.fails("plan study.textproto --set training.epoch=2", 2, "--set=training.epoch=2", "did you mean 'epochs'")


if __name__ == "__main__":
    main()
