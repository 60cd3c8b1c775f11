#!/usr/bin/env python3
"""Outputs that were computed elsewhere: `openset score` on files of outputs, and studies of them."""
import math
import random
import sys

sys.path.insert(0, "tools/testing")
from arrays import f32, i64, read_npz, scalar, u8  # noqa: E402
from program import ProgramTest, main  # noqa: E402
from samples import CLASSES, cloud, method_of_outputs, outputs_of  # noqa: E402

# The known test samples and the groups of net.npz.
TASK = """
name: "t" data_set: "features:net.npz" test_only: true test_part: "all"
split { known: [0, 1, 2, 3] }
unknown { group: "near" data_set: "features:net.npz" part: "near" }
unknown { group: "far" data_set: "features:net.npz" part: "far" }
"""
STUDY = 'name: "s" task: "task.textproto" method: "mine.textproto" seed: 0 metric { auroc {} }\n'


class ScoreTest(ProgramTest):
    """openset score --model=FILE.npz."""

    def outputs(self, name, known, unknown=0, seed=1, bias=0):
        self.arrays(name, **outputs_of(cloud(known, unknown, seed), bias))

    def net_and_fit(self):
        self.outputs("net.npz", 400, 300)
        self.outputs("fit.npz", 200, seed=2)

    # Records of imported outputs have the very numbers of `openset eval` on the same files.
    def test_outputs_score_as_they_evaluate(self):
        self.net_and_fit()
        # The worker with LibTorch is not needed.
        self.out("score --model=net.npz --fit=fit.npz --worker=/nowhere/worker --methods=mcp,energy_score,knn,react")
        means = self.program.means("score_net")
        self.assertEqual(means.keys(), {"mcp", "energy_score", "knn", "react"})
        for method, score in (("mcp", "max_softmax"), ("energy_score", "energy"), ("knn", "knn")):
            values = self.values(f"eval net.npz --fit=fit.npz --score={score} --metrics=accuracy,auroc,aurc,openauc")
            for metric, value in values.items():
                self.assertEqual(means[method][metric], value, (method, metric))
        # From another folder, too.
        elsewhere = self.another_program("elsewhere")
        self.says(elsewhere.must_run(["report", "score_net", f"--store={self.program.store}"]).out, "energy_score")

    # One run: its methods are compared on its samples, as `compare` does for files.
    def test_its_methods_are_compared(self):
        self.net_and_fit()
        self.out("score --model=net.npz --fit=fit.npz --methods=mcp,energy_score,knn,react")
        means = self.program.means("score_net")
        rows = self.json("compare score_net --metrics=auroc")["comparisons"]
        self.assertEqual(len(rows), 3 * 2)  # the best method against each other one: by the bootstrap, by DeLong's test
        for row in rows:
            best, other = means[row["a"]]["auroc"], means[row["b"]]["auroc"]
            self.assertGreaterEqual(best, other)
            self.assertAlmostEqual(row["difference"], best - other, delta=1e-12)
        self.says(self.out("compare score_net"), "one run (net, split 0, seed 0)",
                  "is the best of 4 on these test samples")
        self.out("compare score_net --baseline=mcp")
        # A synonym means the same metric; a metric that no record has can't tell which method is best.
        self.assertEqual(self.json("compare score_net --metrics=AUC")["comparisons"], rows)
        self.refused("compare score_net --metrics='early=partial_openauc { max_ofpr: 0.1 }'",
                     "--metrics: no record has early, so the best method by it is unknown: name a --baseline")
        # Two networks on the same samples.
        self.outputs("other.npz", 400, 300, seed=3)
        self.out("score --model=other.npz --methods=mcp,entropy")
        pair = self.json("compare score_other score_net --methods=mcp --metrics=auroc")["comparisons"][0]
        self.assertEqual({pair["a"], pair["b"]}, {"score_net: mcp", "score_other: mcp"})
        self.assertAlmostEqual(abs(pair["difference"]), delta=1e-12, second=abs(
            means["mcp"]["auroc"] - self.program.means("score_other")["mcp"]["auroc"]))
        # Samples in pairs: the bootstrap of pairs alone.
        samples = outputs_of(cloud(400, 300))
        self.arrays("pairs.npz", **samples, cluster=i64(i // 2 for i in range(700)))
        self.out("score --model=pairs.npz --methods=mcp,entropy")
        self.says(self.out("compare score_pairs --metrics=auroc"), "2000 replicates of 350 clusters")
        row, = self.json("compare score_pairs --metrics=auroc")["comparisons"]
        self.assertEqual(row["test"], "bootstrap")
        self.refused("compare score_net --seeds=1", "--seeds: is for a study, not for what 'openset score' measured")
        self.refused("compare score_net --baseline=mpc", "--baseline: ")

    def test_what_a_score_needs(self):
        self.net_and_fit()
        self.refused("score --model=net.npz --methods=knn", "--methods: knn is fitted to training samples", "--fit")
        self.arrays("logits.npz", **{name: array for name, array in outputs_of(cloud(40, 30)).items()
                                     if name not in ("features", "head_weight", "head_bias")})
        self.refused("score --model=logits.npz --fit=fit.npz --methods=knn",
                     "needs an array 'features' in the file of outputs")

    # A network has a class that neither the test nor the fit has. What is fitted to each class does without it.
    def test_a_network_may_have_classes_that_the_test_lacks(self):
        self.arrays("net.npz", **outputs_of(cloud(400, 300, without_class=2)))
        self.arrays("fit.npz", **outputs_of(cloud(400, seed=2, without_class=2)))
        self.out("score --model=net.npz --fit=fit.npz --methods=mcp,knn,openmax_closed_set,ghost")
        means = self.program.means("score_net")
        for method, score in (("mcp", "max_softmax"), ("knn", "knn"), ("openmax_closed_set", "openmax"),
                              ("ghost", "ghost { value: QUOTIENT }")):
            self.assertEqual({"auroc": means[method]["auroc"]},
                             self.values(f"eval net.npz --fit=fit.npz --metrics=auroc --score='{score}'"), method)

    # The table begins with the best AUROC. A dagger marks it and what `compare` doesn't tell apart from it.
    def test_the_table_says_which_score_is_best(self):
        self.net_and_fit()
        out = self.out("score --model=net.npz --fit=fit.npz")
        auroc = {method: values["auroc"] for method, values in self.program.means("score_net").items()}
        self.assertGreater(len(auroc), 20)
        not_told_apart = {max(auroc, key=auroc.get)} | {
            row["b"] for row in self.json("compare score_net --metrics=auroc")["comparisons"]
            if row["test"] == "delong" and row["p_holm"] >= 0.05}
        self.assertLess(len(not_told_apart), len(auroc))
        cells = self.json("report score_net")["cells"]
        self.assertEqual({cell["method"] for cell in cells if "among_best" in cell}, not_told_apart)
        for cell in cells:
            if cell["metric"] == "auroc":
                self.assertTrue(cell["low"][0] <= cell["mean"] <= cell["high"][0], cell)
        # The first table.
        lines = [line for line in out.splitlines() if len(line.split()) >= 4 and line.split()[0] in auroc][:len(auroc)]
        order = [line.split()[0] for line in lines]
        self.assertEqual([auroc[method] for method in order], sorted(auroc.values(), reverse=True))
        self.assertEqual({method for method, line in zip(order, lines) if "†" in line}, not_told_apart)
        self.says(out.replace("\n  ", " "),
                  "each that DeLong's paired test on the same 700 samples doesn't tell apart from it",
                  f"The best of {len(auroc)} is chosen on the test samples here")
        # Samples in clusters are resampled together instead.
        self.arrays("pairs.npz", **outputs_of(cloud(400, 300)), cluster=i64(i // 2 for i in range(700)))
        self.says(self.out("score --model=pairs.npz --methods=mcp,energy_score").replace("\n  ", " "),
                  "each that the paired bootstrap of clusters on the same 700 samples", "over 1 test;")

    def test_files_of_splits_and_seeds_are_one_study(self):
        for split in range(3):
            for seed in range(2):
                self.outputs(f"net_{split}_{seed}.npz", 100, 60, 10 + split, 0.1 * seed)
        self.says(self.out("score --model=net_{split}_{seed}.npz --methods=mcp,max_logit,energy_score"), "(n=6)")
        self.assertEqual(len(self.program.records()), 3 * 3 * 2)
        self.says_not(self.out("compare score_net"), "two runs are needed")  # splits are enough for a test
        # A hole is named before anything runs.
        self.program.path("net_2_1.npz").unlink()
        self.refused("score --model=net_{split}_{seed}.npz", "--model: ", "net_2_1.npz")
        self.refused("score --model=other_{split}.npz", "no file is called ")
        # Other labels in another seed of the same split.
        self.outputs("net_2_1.npz", 104, 60, 12)
        self.says(self.fails("score --model=net_{split}_{seed}.npz --methods=mcp", 1).printed,
                  "has 104 known samples, and the task's split has 100 to test on")

    # One file to fit to is of one network, and others are not fitted to it.
    def test_each_network_is_fitted_to_its_own_outputs(self):
        for seed in range(2):
            self.outputs(f"net_{seed}.npz", 100, 60, 10, 0.2 * seed)
            self.outputs(f"fit_{seed}.npz", 120, 0, 11, 0.2 * seed)
        differs = "its head (head_weight, head_bias) differs from the one in"
        self.says(self.fails("score --model=net_{seed}.npz --fit=fit_0.npz --methods=knn", 1).printed,
                  "hint: --fit is one file for the networks of 2 seeds", f"fit_0.npz: {differs}")
        self.out("score --model=net_{seed}.npz --fit=fit_{seed}.npz --methods=knn")
        # In a comparison, each file has its own.
        compare = "compare net_0.npz net_1.npz --score=knn --metrics=auroc --fit="
        self.out(compare + "fit_0.npz,fit_1.npz")
        self.refused(compare + "fit_0.npz",
                     f"score knn: fit_0.npz: {differs} net_1.npz: give outputs of the same network")
        self.refused(compare + "fit_0.npz,fit_1.npz,fit_1.npz", "--fit: names 3 files for 2 methods")
        self.out("eval net_0.npz net_1.npz --as=methods --score=knn --fit=fit_0.npz,fit_1.npz")
        self.refused("threshold net_0.npz net_1.npz", f"net_1.npz: {differs} net_0.npz")

    # The guarantee is about new samples.
    def test_nothing_is_guaranteed_for_samples_of_the_fit(self):
        self.outputs("val.npz", 200)
        self.outputs("copy.npz", 200)
        self.outputs("fit.npz", 200, seed=2)
        self.outputs("test.npz", 200, 100, 3)
        rule = " --score=knn --rule=conformal --target=0.9"
        for command in ("threshold val.npz test.npz --fit=val.npz", "threshold val.npz test.npz --fit=copy.npz",
                        "detector save val.npz --fit=copy.npz --out=d.npz"):
            self.refused(command + rule, "val.npz: 200 of 200 samples are among those that the score is fitted to, for "
                                         "which the rule")
        self.out("threshold val.npz test.npz --fit=fit.npz" + rule)
        self.refused("threshold val.npz val.npz --fit=fit.npz" + rule,
                     "val.npz: 200 of 200 samples are also validation samples, on which the threshold is chosen; the "
                     "guarantee of conformal is about new ones")
        # Without a guarantee, a hint.
        self.says(self.program.must_run("eval test.npz --fit=test.npz --score=knn").err,
                  "hint: 200 of 300 samples are among those that the score is fitted to")
        self.says_not(self.program.must_run("eval test.npz --fit=fit.npz --score=knn").err, "are among those")
        self.says(self.program.must_run("threshold val.npz val.npz").err, "are also validation samples")

    def test_networks_that_python_runs_are_sent_there(self):
        self.refused("score --model=net.onnx",
                     "in Python, openset.collect('net.onnx', task='TASK', split=0, store='openset-store')")
        # The call has the input that was given.
        self.refused("score --model=net.onnx --task=mine --size=32 --channels=3 --mean=0.5,0.25,0.1 --std=0.2 "
                     "--fit_part=few",
                     "openset.collect('net.onnx', task='mine', split=0, size=32, channels=3, mean=[0.5, 0.25, 0.1], "
                     "std=[0.2], fit_part='few', store='openset-store')")


class StudiesTest(ProgramTest):
    """Methods `model { outputs { ... } }`."""

    # A record says which file its outputs are, not where it was on the machine.
    def test_a_record_has_no_path_of_outputs_and_features(self):
        self.arrays("net.npz", **outputs_of(cloud(400, 300)))
        self.write("arrays/mine.npz", self.program.path("net.npz").read_bytes())
        self.write("task.textproto", TASK.replace("features:", f"features:{self.program.folder}/"))
        self.write("mine.textproto", method_of_outputs("energy", "file: 'arrays/mine.npz'"))
        self.write("s.textproto", STUDY)
        self.out("run s.textproto --worker=/nowhere/worker")
        record = self.out(["records", "show", *self.program.records()])
        self.says(record, 'file: "mine.npz"', 'data_set: "features:net.npz"')
        self.says_not(record, 'file: "/', "features:/")
        self.out("records verify")  # the id is still that of what the record says

    # A bundle has no outputs: `reproduce` takes them from the current folder.
    def test_a_bundle_is_reproduced_with_outputs_in_the_current_folder(self):
        self.arrays("net.npz", **outputs_of(cloud(400, 300)))
        self.write("tasks/t.textproto", TASK.replace("features:", f"features:{self.program.folder}/"))
        self.write("mine.textproto", method_of_outputs("energy", "file: 'net.npz'"))
        self.write("s.textproto", STUDY.replace("task.textproto", "t"))
        self.out("run s.textproto")
        self.out("records export --bundle=all.zip")
        other = self.another_program("other")
        other.write("all.zip", self.program.path("all.zip").read_bytes())
        self.says(other.run("reproduce all.zip").err, "the model's file is missing: net.npz (SHA-256 ")
        other.write("net.npz", self.program.path("net.npz").read_bytes())
        self.says(other.must_run("reproduce all.zip").out, "1 of 1 trial reproduced to the bit")

    # A last output that is large for unknown samples: scores of the classes would take it for confidence.
    def test_an_output_for_the_unknown_is_no_class(self):
        outputs = outputs_of(cloud(200, 120))
        label, logits = outputs["label"].values, outputs["logits"].values
        with_last = [x for i, one in enumerate(label)
                     for x in logits[i * CLASSES:(i + 1) * CLASSES] + [20 if one < 0 else 0]]
        self.arrays("net.npz", features=outputs["features"], label=outputs["label"], group=outputs["group"],
                    group_names=outputs["group_names"], logits=f32(with_last, 320, CLASSES + 1),
                    num_classes=scalar(CLASSES))
        self.says(self.program.must_run("eval net.npz --score=max_softmax").err,
                  "hint: the score max_softmax takes each of 5 outputs for a class, and there are 4: a sample looks "
                  "known if the output for the unknown is")
        self.assertEqual(self.values("eval net.npz --score=extra_output --metrics=auroc"), {"auroc": 1})
        self.says_not(self.program.must_run("eval net.npz --score=extra_output").err, "takes each of")

        self.refused("score --model=net.npz --methods=mcp", "--methods: mcp takes each of 5 outputs for a class")
        for command in ("score --model=net.npz --fit=net.npz", "report score_net"):
            self.says(self.out(command), "(takes each of 5 outputs for a class")
        scored = self.program.means("score_net")
        self.assertTrue("knn" in scored and "mcp" not in scored, scored)

        self.write("task.textproto", TASK)
        self.write("s.textproto", STUDY)
        self.write("mine.textproto", method_of_outputs("extra_output"))
        self.out("run s.textproto")
        self.assertEqual(self.program.means("s")["mine"]["auroc"], 1)
        self.write("mine.textproto", method_of_outputs("max_softmax"))
        self.says(self.fails("run s.textproto", 1).printed, "the score takes each of 5 outputs for a class")
        self.arrays("net.npz", **outputs)
        self.write("mine.textproto", method_of_outputs("extra_output"))
        self.says(self.run_program("run s.textproto").printed,
                  "the score needs an output for the unknown, and there are 4 outputs for 4 classes")

    # Outputs of several passes: log-probabilities, and their disagreement. What can't be computed is left out.
    def test_outputs_of_several_passes(self):
        outputs = outputs_of(cloud(200, 120))
        draw = random.Random(4)
        logits, log_probabilities, uncertainty = outputs["logits"].values, [], []
        for i in range(320):
            row = logits[i * CLASSES:(i + 1) * CLASSES]
            total = math.log(sum(math.exp(x) for x in row))
            log_probabilities += [x - total for x in row]
            uncertainty += [draw.random() + (1 if outputs["label"].values[i] < 0 else 0) for _ in range(3)]
        self.arrays("passes.npz", label=outputs["label"], logits=f32(log_probabilities, 320, CLASSES),
                    member_uncertainty=f32(uncertainty, 320, 3))
        out = self.out("score --model=passes.npz")
        self.says(out.replace("\n  ", " "), "energy_score", "(reads the level of the logits, and the file has log-probabilities,")
        scored = self.program.means("score_passes")
        self.assertTrue("mcp" in scored and "energy_score" not in scored, scored)
        for score in ("mutual_information", "expected_entropy", "variation_ratio"):
            self.assertEqual({"auroc": scored["mc_dropout_" + score]["auroc"]},
                             self.values(f"eval passes.npz --score={score} --metrics=auroc"), score)
        self.refused("score --model=passes.npz --methods=energy_score",
                     "--methods: energy_score reads the level of the logits, and the file has log-probabilities")
        self.arrays("net.npz", **outputs)
        self.refused("score --model=net.npz --methods=mc_dropout_mutual_information",
                     "needs an array 'member_uncertainty' in the file of outputs")
        # The note of the shipped recipe, on the training of its own network, is not the record's.
        record = self.out(["records", "show", next(iter(self.program.records()))])
        self.says(record, "On a model that was trained elsewhere. The method")
        self.says_not(record, "ResNet-20")

    # A network of openset's own, trained on images, beside outputs for the same images.
    def test_outputs_stand_beside_a_trained_network(self):
        self.write("catalog/tiny.textproto", """
name: "tiny" class_name: ["a", "b", "c"] channels: 1 height: 32 width: 32
layout {
  part { name: "train" samples: 60 samples_per_class: 20 npz { images { path: "train.npz" } } }
  part { name: "test" samples: 60 samples_per_class: 20 npz { images { path: "test.npz" } } }
}
""")
        self.write("tiny_task.textproto", "name: 'tiny_task' data_set: 'tiny' split { known: [0, 1] unknown: 2 }")
        pixels = 32 * 32
        for part in ("train", "test"):  # pixels of class c: 80 c + 0 ... 59
            draw = random.Random(part)
            self.arrays(part + ".npz", labels=i64(i % 3 for i in range(60)), images=u8(
                (80 * (i % 3) + draw.randrange(60) for i in range(60) for _ in range(pixels)), 60, 32, 32))
        folder = str(self.program.folder)
        self.program.environment.update(OPENSET_LIBRARY=folder, OPENSET_DATA=folder)
        self.out("task samples tiny_task.textproto --out=samples")
        tested = read_npz(self.program.path("samples/test.npz"))
        # A tenth of the distance of the image's mean from the mean of a class, negated: unknown images are 80 from the
        # nearest.
        n, images = len(tested["label"].values), tested["images"].values
        means = [sum(images[i * pixels:(i + 1) * pixels]) / pixels for i in range(n)]
        self.arrays("net.npz", label=tested["label"],
                    logits=f32((-abs(mean - centre) / 10 for mean in means for centre in (30, 110)), n, 2))
        self.write("mine.textproto", method_of_outputs("energy"))
        self.write("study.textproto", """
name: 'study' question: '?' task: 'tiny_task.textproto' method: ['mcp', 'mine.textproto'] seed: [0, 1]
override { input { size: 32 channels: 1 mean: 0.5 std: 0.25 } training { epochs: 1 batch_size: 16 } }
metric { accuracy {} } metric { auroc {} }
""")
        self.out("run study.textproto")
        means = self.program.means("study")
        self.assertEqual(means.keys(), {"mcp", "mine"})
        self.assertEqual(means["mine"], {"accuracy": 1, "auroc": 1})
        self.says(self.out("compare study --metrics=auroc"), "mcp", "mine")

    # What outputs can't be used for is said before anything runs.
    def test_outputs_that_do_not_fit_are_refused(self):
        self.arrays("net.npz", **outputs_of(cloud(100, 60)))
        self.write("task.textproto", TASK.replace('group: "near"', 'group: "other"'))
        self.write("mine.textproto", method_of_outputs("max_softmax"))
        self.write("s.textproto", STUDY)
        self.says(self.fails("run s.textproto", 1).printed,
                  "is of group 'near', and the groups of the task are other, far")
        self.write("mine.textproto", method_of_outputs("max_softmax") + "loss { term { cross_entropy {} } }")
        self.refused("plan s.textproto", "loss: does not go with outputs that were computed elsewhere")

    # A search over scores chooses what `openset eval` finds best on the validation outputs, and measures it on the test
    # outputs.
    def test_searches_choose_by_validation_outputs(self):
        for seed, bias in ((0, 0), (1, 0.2)):
            self.arrays(f"net_{seed}.npz", **outputs_of(cloud(200, 120, 31), bias))
            self.arrays(f"val_{seed}.npz", **outputs_of(cloud(80, 60, 32), bias))
            self.arrays(f"fit_{seed}.npz", **outputs_of(cloud(120, 0, 33), bias))
        self.arrays("net.npz", **outputs_of(cloud(200, 120, 31)))
        self.write("task.textproto", TASK)
        files = "file: 'net_{seed}.npz' fit_file: 'fit_{seed}.npz'"
        self.write("mine.textproto", method_of_outputs("knn", files + " validation_file: 'val_{seed}.npz'"))
        scores = ("knn { k: 1 }", "knn { k: 20 }", "max_logit {}", "max_softmax {}")
        grid = " ".join(f"value: '{score}'" for score in scores)
        self.write("s.textproto", f"""
name: "s" task: "task.textproto" method: "mine.textproto" seed: [0, 1]
metric {{ accuracy {{}} }} metric {{ auroc {{}} }} metric {{ aurc {{}} }} metric {{ openauc {{}} }}
search {{ method: "mine" criterion {{ auroc {{}} }} axis {{ path: "score" {grid} }} }}
""")
        self.out("run s.textproto --worker=/nowhere/worker")
        tuned = [record for record in self.program.shown_records() if "search" in record["trial"]]
        self.assertEqual(len(tuned), 2)
        for record in tuned:
            seed = record["trial"]["seed"]
            candidates = [candidate["value"] for candidate in record["trial"]["search"]["candidate"]]
            eval_of = f" --fit=fit_{seed}.npz --metrics=accuracy,auroc,aurc,openauc --score="
            self.assertEqual(candidates, [self.values(f"eval val_{seed}.npz{eval_of}'{score}'")["auroc"]
                                          for score in scores])
            best = scores[candidates.index(max(candidates))]
            measured = {metric["name"]: metric["value"] for metric in record["metric"]
                        if metric.get("group", {"kind": "POOL"})["kind"] == "POOL"}
            for name, value in self.values(f"eval net_{seed}.npz{eval_of}'{best}'").items():
                self.assertEqual(measured[name], value, name)

        # What is missing is said before anything runs.
        self.write("mine.textproto", method_of_outputs("knn", files))
        self.refused("plan s.textproto", "s.textproto:4: search[0].method[0]: ", "set model.outputs.validation_file")
        self.arrays("known.npz", **outputs_of(cloud(80, 0, 32)))
        for validation, errors in (("no_{seed}.npz", ["no_0.npz"]),
                                   ("val.csv", ["model.outputs.validation_file: must be an .npz"]),
                                   ("known.npz", ["auroc needs unknown samples", "known.npz has none"])):
            self.write("mine.textproto", method_of_outputs("knn", f"{files} validation_file: '{validation}'"))
            self.fails("run s.textproto", 2, *errors)
        self.arrays("classes.npz", **outputs_of(cloud(80, 60, 32)), num_classes=scalar(5))
        self.write("mine.textproto", method_of_outputs("knn", files + " validation_file: 'classes.npz'"))
        self.says(self.fails("run s.textproto", 1).printed,
                  "classes.npz: array 'num_classes' is 5, but there are 4 logits per sample")


if __name__ == "__main__":
    main()
