#!/usr/bin/env python3
"""`openset score` on a network that PyTorch trained on Fashion-MNIST images (tools/peers/make_fashion_network.py)."""
import json
import sys

sys.path.insert(0, "tools/testing")
from program import ROOT, ProgramTest, main  # noqa: E402

# How the network was trained, and fewer samples.
TASK = " --task=fashion_mnist_6_4 --split=0 --size=28 --channels=1 --mean=0.286 --std=0.353"
SCORE = "score --model=net.pt" + TASK + " --test_limit=50 --train_limit=50"

METHOD = """
model {
  osrci_cnn { feature_dim: 32 dropout: 0.2 }
  head { linear {} }
  weights { file: "net.pt" }
}
input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
"""


def score(model):
    return SCORE.replace("net.pt", model)


def models_file(name):
    return (ROOT / "models/testdata" / name).read_bytes()


class ScoreTest(ProgramTest):
    NETWORK = (ROOT / "tools/testing/testdata/fashion_network.pt").read_bytes()

    def setUp(self):
        super().setUp()
        self.write("net.pt", self.NETWORK)

    def test_every_score_of_a_torch_script_network(self):
        out = self.out(SCORE + " --head=head")
        self.says(out.replace("\n  ", " "),  # its lines are wrapped
                  "is trained with its own loss", "needs several trainings",
                  "left out: mc_dropout, mc_dropout_expected_entropy, mc_dropout_mutual_information, "
                  "mc_dropout_variation_ratio (dropout inside a script can't be switched on)",
                  "0 trainings, 1 import of a model")
        means = self.program.means("score_net")
        self.assertEqual(len(self.program.records()), len(means))
        self.assertLessEqual({
            "adascale_a", "ash", "dice", "fdbd", "gen", "gradnorm", "klm", "knn", "mahalanobis", "nci", "nnguide",
            "odin", "openmax", "react", "relation", "residual", "scale", "she", "vim", "weiper_kld"}, means.keys())
        self.assertFalse({"arpl", "softmax"} & means.keys())
        for method, values in means.items():
            self.assertEqual(values.keys(), {"accuracy", "auroc", "aupr_unknown", "fpr_at_95tpr", "aurc", "openauc"},
                             method)
        # PyTorch's and scikit-learn's values.
        golden = json.loads((ROOT / "tools/testing/testdata/fashion_network.json").read_text())
        self.assertAlmostEqual(means["mcp"]["accuracy"], golden["accuracy"], delta=1e-12)
        for method in ("mcp", "max_logit", "energy_score"):
            for metric in ("auroc", "aupr_unknown"):
                self.assertAlmostEqual(means[method][metric], golden[method][metric], delta=1e-4, msg=(method, metric))
        self.says(self.out(SCORE + " --head=head"), "trials are done; nothing to run")

    def test_logits_are_enough_for_some(self):
        result = self.program.must_run(SCORE + " --methods=mcp,openmax")
        self.assertEqual(self.program.means("score_net").keys(), {"mcp", "openmax"})
        self.says(result.out, "input: 28 x 28 pixels, 1 channel, mean 0.286, std 0.353\n")
        self.says_not(result.err, "the defaults are used")
        defaults = ("score --model=net.pt --task=fashion_mnist_6_4 --split=0 --size=28 --test_limit=1 --methods=mcp "
                    "--store=other")
        self.says(self.run_program(defaults).err, "hint: without --channels, --mean, --std, the defaults are used")
        self.refused(SCORE + " --methods=mcp,knn", "--methods: knn needs features: name the last linear module")

        # All forms of a report work on its results, by name.
        for form in ("text", "markdown", "latex", "csv", "json", "html", "csv --tidy"):
            # LaTeX has the methods' titles.
            self.says(self.out("report score_net --format=" + form), "OpenMax" if form == "latex" else "openmax")
        self.says(self.out("status score_net"), "2 of 2 trials done")

    # Another model can't use the name of the first one, unless it has its own.
    def test_names_of_models(self):
        self.write("other/net.pt", self.NETWORK)
        self.out(SCORE + " --methods=max_logit")
        other = score("other/net.pt") + " --methods=mcp"
        self.refused(other, "has results of another model under 'score_net'", "--name=NAME")
        self.out(other + " --name=second")
        self.says(self.out("report score_second"), "\nmcp")
        self.says(self.out("report score_net"), "\nmax_logit")
        self.refused(other + " --name=a/b", "--name: ")

    # The report has all scores of the network, and failures don't change it.
    def test_a_report_grows(self):
        self.out(SCORE + " --methods=mcp,max_logit")
        self.says(self.out(SCORE + " --methods=energy_score,mcp"), "\nmax_logit", "\nenergy_score", "\nmcp")
        self.assertEqual(len(self.program.means("score_net")), 3)
        self.says(self.out("report score_net"), "\nmax_logit")
        # A run that fails, because its file is no longer a network.
        before = self.read("openset-store/reports/score_net/report.txt")
        self.write("net.pt", "no network")
        self.fails(SCORE + " --methods=mcp", 2)
        self.assertEqual(self.read("openset-store/reports/score_net/report.txt"), before)
        self.write("net.pt", self.NETWORK)
        self.says(self.out("report score_net"), "\nmax_logit")
        # Another split has its own rows, and only those that were scored.
        split = self.out(SCORE + " --methods=mcp --split=1")
        for row in ("mcp +0 ", "mcp +1 ", "max_logit +0 "):
            self.assertRegex(split, row)
        self.assertNotRegex(split, "max_logit +1 ")
        self.says_not(split, "no record yet")
        self.says(self.out("status score_net"), "4 of 4 trials done")
        again = self.out(SCORE + " --methods=energy_score --split=1")
        self.assertRegex(again, "energy_score +1 ")
        self.assertRegex(again, "energy_score +0 ")
        # Another task is another table.
        self.write("own.textproto", "name: 'own' data_set: 'fashion_mnist' split { known: [0, 1, 2, 5, 6, 7] } "
                                    "unknown { data_set: 'fashion_mnist' class_id: [3, 4] }")
        self.says(self.out(SCORE + " --methods=mcp --task=own.textproto"), "\nown: 6 known and 2 unknown classes",
                  "\nfashion_mnist_6_4: 6")
        self.says(self.out("status score_net"), "6 of 6 trials done")
        # Other images are another report.
        self.out(SCORE + " --methods=mcp --test_limit=20")
        self.assertEqual(len(self.program.means("score_net")), 1)

    # With --weights, the file that the method names need not exist.
    def test_weights_replace_those_of_a_method_file(self):
        self.write("weights.textproto", METHOD)
        self.write("moved.textproto", METHOD.replace("net.pt", "on/another/machine.pt"))
        self.out(score("weights.textproto") + " --methods=mcp")
        moved = score("moved.textproto") + " --methods=mcp"
        self.refused(moved, "moved.textproto:5: model.weights.file: cannot open")
        self.out(moved + " --weights=net.pt")
        self.assertEqual(self.program.means("score_moved"), self.program.means("score_weights"))

    # The same network from its weights, read by name: the same numbers, and MC-dropout, which a script can't have.
    def test_weights_of_a_method_file(self):
        self.write("weights.textproto", METHOD)
        self.out(SCORE + " --methods=mcp,react,mahalanobis --head=head")
        script = self.program.means("score_net")
        self.out(score("weights.textproto") + " --methods=mcp,react,mahalanobis,mc_dropout")
        weights = self.program.means("score_weights")
        self.assertEqual(weights.keys(), {*script, "mc_dropout"})
        for method, values in script.items():
            for metric, value in values.items():
                self.assertAlmostEqual(weights[method][metric], value, delta=1e-3, msg=(method, metric))
        self.assertGreater(weights["mc_dropout"]["accuracy"], 0.85)

    def test_impossible_requests_are_refused(self):
        self.write("net.textproto", METHOD)
        self.write("untrained.textproto", "model { vgg32 {} head { linear {} } } input {}")
        self.write("net.safetensors", "")
        for command, error in (
                ("score --model=net.pt", "--task: name the task, or give its file"),
                ("score --task=mnist", "--split: task mnist has"),
                ("score --task=mnist --split=0",
                 "--model: give a file of outputs (.npz), a TorchScript file, or a method file"),
                ("score --task=mnst", "--task: unknown task 'mnst'; did you mean 'mnist'?"),
                ("score --task=fashion_mnist_6_4 --split=99", "has the splits 0 to"),
                ("score --task=mnist --split=x", "--split: 'x' is not a number"),
                (score("nowhere.pt"), "--model: cannot open"),
                (score("nowhere.textproto"), f"no such file: {self.program.folder}/nowhere.textproto"),
                (score("net.safetensors"), "name it with --network (resnet18,"),
                (score("net.pt2"), "--model: openset does not run .pt2 files; in Python, openset.collect('net.pt2', "
                                   "task='fashion_mnist_6_4'"),
                (score("net.onnx"), "--model: openset does not run .onnx files"),
                (score("net.safetensors") + " --network=resnet_50", "did you mean 'resnet50'?"),
                (score("net.safetensors") + " --network=resnet50 --head=fc", "are for a TorchScript file"),
                (score("net.safetensors") + " --network=resnet50 --weights=a.pth",
                 "--model is the file of the weights"),
                (score("net.textproto") + " --network=resnet50", "a method file defines its own model"),
                (score("nowhere.pth") + " --network=resnet50", "--model: cannot open"),
                (score("untrained.textproto"), "names no trained weights: give --weights=FILE"),
                (SCORE + " --weights=net.pt", "--weights: applies only to a method file; a TorchScript network"),
                (score("net.textproto") + " --head=fc", "--head and --features are for a TorchScript file"),
                (SCORE + " --key=ema", "--key: is for a file of weights; a TorchScript network has no keys"),
                (score("net.textproto") + " --weights=nowhere", "--weights: cannot open"),
                (SCORE + " --methods=mpc", "--methods: unknown method 'mpc'; did you mean 'mcp'?"),
                (SCORE + " --methods=arpl", "--methods: arpl is trained with its own loss"),
                (SCORE + " --methods=energy", "--methods: energy is trained with samples that stand for unknown "
                                              "classes; energy_score is its score without that training"),
                (SCORE + " --mean=1,2", "--mean: has 2 values for 1 channels"),
                (SCORE + " --std=0", "--std: must be above 0"),
                (SCORE + " --size=0", "--size: must be at least 1"),
                (SCORE + " --outputs=-1", "--outputs: -1 is negative"),
                (SCORE + " --test_limit=-1", "--test_limit: must be at least 0"),
                (SCORE + " more", "usage: openset score [--flag=value ...]")):
            with self.subTest(error):
                self.says_not(self.fails(command, 2, error).out, "trials to run")

    # The network is for split 0 and the mean 0.286. Likely mistakes are listed after the table.
    def test_hints_at_mistakes(self):
        for number, (wrong, hint) in enumerate((
                ("", ""),
                (" --split=1",
                 "with those of split 0: was the network trained on that one? --split=0 measures it there"),
                (" --outputs=2,0,1,5,3,4", "with the known classes in another order: --outputs=0,1,2,3,4,5 puts the "
                                           "network's outputs into that order"),
                (" --mean=50", "on 300 known samples, no better than guessing among 6 classes: check --mean, --std, "
                               "--size, --outputs, --split"))):
            with self.subTest(wrong):
                store = f" --store=store_{number}"
                result = self.program.must_run(SCORE + " --methods=mcp" + store + wrong)
                self.says(result.out, "records: ")
                self.assertEqual(self.program.must_run("report score_net" + store).err, result.err)
                if hint:
                    self.assertRegex(result.err, r"^hint: (on accepted samples, )?accuracy is .*\n$")  # one line
                    self.says(result.err, hint)
                else:
                    self.assertEqual(result.err, "")

    def test_errors_of_the_network_are_reported(self):
        self.write("broken.pt", "no archive")
        self.write("nan.pt", models_file("script_nan.pt"))
        self.write("softmax.pt", models_file("script_probabilities.pt"))
        for command, error in (
                (SCORE + " --methods=mcp --head=fc", "unknown linear module 'fc' (known: backbone.fc, head)"),
                (SCORE + " --methods=mcp --size=20", "the script fails on images of [2, 1, 20, 20]"),
                (SCORE + " --methods=mcp --outputs=0,1,2",
                 "torch_script.output lists 3 places for 6 known classes"),
                (score("broken.pt"), "broken.pt: is not a TorchScript archive"),
                (score("nan.pt") + " --methods=mcp --size=8", "nan.pt: the script gives NaN"),
                (score("softmax.pt") + " --methods=mcp --size=8",
                 "softmax.pt: the script ends in a softmax: its outputs for an image are never negative and sum to 1; "
                 "scores need logits, so save the network without its softmax")):
            with self.subTest(error):
                result = self.fails(command, 2, error)
                self.assertRegex(result.err, r"^openset: the model: .*\n$")  # one line
                self.says_not(result.out, "records: ", "left out: ")  # no table of dashes

    # A script is an ordinary model: here it is trained further. Its file may be removed once it is in the store.
    def test_experiments_train_a_script_further(self):
        self.write("tuned.textproto", """
model { torch_script { file: "net.pt" head: "head" } }
input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
loss { term { cross_entropy {} } }
training {
  epochs: 2
  batch_size: 50
  optimizer { learning_rate: 0.01 sgd { momentum: 0.9 } }
  schedule { constant {} }
}
inference { plain {} }
score { react {} }
""")
        self.write("study.textproto",
                   "name: 'study' task: 'fashion_mnist_6_4' method: 'tuned.textproto' split: 0 seed: 0 "
                   "train_limit_per_class: 50 test_limit_per_class: 50 metric { accuracy {} } metric { auroc {} }")
        self.out("run study.textproto")
        record, = self.program.shown_records()
        self.assertEqual(len(record["epoch"]), 2)
        self.assertGreater(record["epoch"][0]["train_accuracy"], 0.8)  # it doesn't start anew; guessing has 1/6
        self.assertRegex(record["trial"]["method"]["model"]["torch_script"]["sha256"], "^[0-9a-f]{64}$")


if __name__ == "__main__":
    main()
