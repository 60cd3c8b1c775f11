#!/usr/bin/env python3
"""Features that were computed elsewhere: studies of heads on them, and samples in clusters."""
import random
import sys

sys.path.insert(0, "tools/testing")
from arrays import f32, i64, read_npz, texts  # noqa: E402
from program import ProgramTest, main  # noqa: E402
from samples import cloud, method_of_outputs, outputs_of  # noqa: E402

# A task of features on which imported outputs, fitted heads and a trained head are measured together.
TASK = """
name: "cloud" data_set: "features:cloud.npz"
split { known: [0, 1, 2, 3] }
unknown { group: "near" data_set: "features:cloud.npz" part: "near" class_id: 5 }
unknown { group: "far" data_set: "features:cloud.npz" part: "far" class_id: 4 }
"""


def study(*methods, seeds="[0, 1]", interval=""):
    """Of two fitted heads and these methods."""
    names = ", ".join(f'"{method}"' for method in ("logistic_regression", "nearest_mean", *methods))
    return f"""
name: "study" question: "Which head?" task: "cloud.textproto" method: [{names}] seed: {seeds}
metric {{ accuracy {{}} }} metric {{ auroc {{}} {interval} }}
override {{
  training {{ epochs: 20 batch_size: 16 optimizer {{ learning_rate: 0.01 adam {{}} }} schedule {{ constant {{}} }} }}
}}
"""


class FeaturesTest(ProgramTest):
    def outputs_of_task(self):
        """Writes the method `mine` of the outputs for the samples that the task tests; returns these samples."""
        self.out("task samples cloud.textproto --out=samples")
        tested = read_npz(self.program.path("samples/test.npz"))
        self.arrays("net.npz", **outputs_of({
            name: tested[name] for name in ("features", "label", "group", "group_names")}))
        self.write("mine.textproto", method_of_outputs("max_softmax"))
        return tested

    def test_features_outputs_and_heads_share_a_table(self):
        self.arrays("cloud.npz", **cloud(600, 100, 3))
        self.write("cloud.textproto", TASK)
        self.outputs_of_task()
        others = ("logistic_regression", "nearest_mean", "mcp+features", "knn+features")
        self.write("study.textproto", study(*others[2:], "mine.textproto"))
        self.says(self.out("run study.textproto"), "near", "far")
        means = self.program.means("study")
        self.assertEqual(means.keys(), {*others, "mine"})
        self.assertEqual(means["mine"], self.values("eval net.npz --score=max_softmax --metrics=accuracy,auroc"))
        for method, values in means.items():
            # The classes are 4.2 standard deviations apart: two of them are confused in 1.7 % of all samples, four in
            # less than 5.2 %; 15 % of 120 test samples is 5 standard deviations above that.
            self.assertGreater(values["accuracy"], 0.85, method)
            self.assertGreater(values["auroc"], 0.7, method)
        self.out("run study.textproto")
        self.says(self.out("compare study --baseline=mine --metrics=auroc"), *others)

    # Outputs have the rows of shifted groups last. The group here lacks the first class, so that its class c has the
    # label c + 1.
    def test_shifted_samples_are_known_ones(self):
        def with_names(samples):
            return {**samples, "label": texts("" if one < 0 else "abcd"[one] for one in samples["label"].values)}
        self.arrays("cloud.npz", **with_names(cloud(200, 100, 3)))
        self.arrays("noisy.npz", **with_names(cloud(80, 0, 4, without_class=0)))
        self.write("cloud.textproto", TASK + "shifted { group: 'noisy' data_set: 'features:noisy.npz' part: 'all' }")
        tested = self.outputs_of_task()
        self.write("study.textproto", study("mine.textproto"))
        self.out("run study.textproto")
        self.assertEqual(self.program.means("study")["mine"]["auroc"],
                         self.values("eval net.npz --score=max_softmax --metrics=auroc")["auroc"])
        records = self.program.shown_records()
        self.assertEqual(len(records), 6)
        for record in records:
            stored = read_npz(self.program.outputs_of(record))
            self.assertEqual(stored["label"].values, tested["label"].values)
            shifted = stored["label"].values[-60:]
            self.assertGreaterEqual(min(shifted), 1)
            self.assertEqual(stored["class_id"].values[-60:], [label - 1 for label in shifted])
        # Without them, the last of the known samples would be taken for them.
        for known, error in (
                (40, "has 40 known samples, and the task's shifted groups have 60"),
                (64, "has 4 known samples without those of shifted groups, and the task's split has 40 to test on")):
            self.arrays("net.npz", **outputs_of(cloud(known, 100, 3)))
            self.says(self.run_program("run study.textproto").printed, error)

    def test_heads_need_no_libtorch(self):
        self.arrays("cloud.npz", **cloud(600, 100, 3))
        self.write("cloud.textproto", TASK)
        self.write("study.textproto", study())
        self.out("run study.textproto --worker=/nowhere/worker")
        self.write("study.textproto", study("mcp+features"))
        self.says(self.run_program("run study.textproto --worker=/nowhere/worker").err,
                  "the worker doesn't exist: /nowhere/worker")

    def test_images_and_features_are_not_mixed_up(self):
        self.arrays("cloud.npz", **cloud(600, 100, 3))
        self.write("cloud.textproto", TASK)
        self.write("study.textproto", study("mcp"))
        self.refused("plan study.textproto",
                     "are feature vectors: METHOD+features (mcp+features) trains a head on them")
        self.write("study.textproto", study("cider+features"))
        self.refused("plan study.textproto", "are augmented images")
        self.write("images.textproto",
                   "name: 'images' task: 'fashion_mnist_6_4' method: 'nearest_mean' seed: 0 metric { auroc {} }")
        self.refused("plan images.textproto",
                     "is for feature vectors, and the samples of 'fashion_mnist' are images")

    # The content of a file of features identifies it, not its place.
    def test_files_may_be_moved(self):
        def trials(study_text):
            self.write("study.textproto", study_text)
            self.out("run study.textproto")
            return set(self.program.records())

        def drawn_splits(file):
            self.write("drawn.textproto", f"name: 'drawn' data_set: 'features:{file}' "
                                          "drawn { level { known: 2 unknown: 2 } repeats: 4 }")
            return self.out("task splits drawn.textproto")

        self.arrays("cloud.npz", **cloud(200, 100, 3))
        self.write("cloud.textproto", TASK)
        before = trials(study())
        self.assertEqual(len(before), 4)
        self.program.path("moved").mkdir()
        self.program.path("cloud.npz").rename(self.program.path("moved/renamed.npz"))
        self.write("cloud.textproto", TASK.replace("cloud.npz", "moved/renamed.npz"))
        self.assertEqual(trials(study()), before)
        # Drawn splits are the same as well.
        self.arrays("copy.npz", **cloud(200, 100, 3))
        of_copy = drawn_splits("copy.npz")
        self.says(of_copy, "split 3: ")
        self.assertEqual(drawn_splits("moved/renamed.npz"), of_copy)
        # A seed that the heads are fitted with anew, from the new place.
        self.assertEqual(len(trials(study(seeds="2"))), 6)
        # Another content is another data set.
        self.arrays("moved/renamed.npz", **cloud(200, 100, 4))
        self.assertEqual(len(trials(study(seeds="2"))), 8)


class ClustersTest(ProgramTest):
    """Samples that are not independent, for example of one patient."""

    # Forty samples of each patient have another interval than as many independent samples.
    def test_clusters_are_resampled_whole(self):
        arrays = outputs_of(cloud(400, 200, 5))
        self.arrays("alone.npz", **arrays)
        self.arrays("patients.npz", **arrays, cluster=i64(i // 40 for i in range(600)))
        def width(file):
            auroc = self.json(f"eval {file} --score=max_logit --metrics=auroc --ci")["metrics"]["auroc"]
            return auroc["high"] - auroc["low"]
        self.assertNotEqual(width("patients.npz"), width("alone.npz"))
        self.says(self.out("eval patients.npz --metrics=auroc --ci"), "of 15 clusters")
        self.says(self.out("eval patients.npz --metrics=auroc --ci --ci_method=delong"), "these are in clusters")

    # The record's interval is `openset eval`'s on the stored outputs, which have the clusters of the samples.
    def test_heads_are_measured_on_whole_clusters(self):
        self.arrays("cloud.npz", **cloud(400, 100, 3), cluster=i64(i // 20 for i in range(500)))
        self.write("cloud.textproto", TASK)
        self.write("study.textproto", study(seeds="0", interval="interval { replicates: 200 }"))
        self.out("run study.textproto")
        record = next(record for record in self.program.shown_records()
                      if record["trial"]["method"]["name"] == "logistic_regression")
        outputs = self.program.outputs_of(record)
        expected = self.json(["eval", outputs, "--score=max_softmax", "--metrics=auroc", "--ci", "--replicates=200",
                              "--seed=0"])["metrics"]["auroc"]
        auroc = next(metric for metric in record["metric"] if metric["name"] == "auroc")
        self.assertEqual((auroc["value"], auroc["interval"]["low"], auroc["interval"]["high"]),
                         (expected["value"], expected["low"], expected["high"]))
        # 80 test samples or more in clusters of 20, each of all classes, and five clusters of unknown samples.
        tested = len(set(read_npz(outputs)["cluster"].values))
        self.assertTrue(9 <= tested <= 25, tested)
        self.says(self.out("compare study"), f"replicates of {tested} clusters, seed 0)")

    # A file of outputs without clusters, for samples that have them.
    def test_outputs_have_the_clusters_of_the_task(self):
        arrays = outputs_of(cloud(80, 60, 5))
        self.arrays("net.npz", **arrays)
        self.arrays("patients.npz", **arrays, cluster=i64(i // 10 for i in range(140)))
        self.write("task.textproto", """
name: "t" data_set: "features:patients.npz" test_only: true test_part: "all" split { known: [0, 1, 2, 3] }
unknown { group: "near" data_set: "features:patients.npz" part: "near" }
unknown { group: "far" data_set: "features:patients.npz" part: "far" }
""")
        self.write("mine.textproto", method_of_outputs("energy"))
        self.write("other.textproto", method_of_outputs("max_logit", name="other"))
        self.write("s.textproto", "name: 's' task: 'task.textproto' method: ['mine.textproto', 'other.textproto'] "
                                  "seed: 0 metric { auroc {} }")
        self.out("run s.textproto")
        self.says(self.out("compare s.textproto"), "replicates of 14 clusters, seed 0)")

    # Two frames of each of 60 scenes: `data audit` finds them, and its file can be used as the one before.
    def test_audit_proposes_clusters(self):
        scenes, draw = cloud(40, 20, 8), random.Random(9)
        features, label, group = (scenes[name].values for name in ("features", "label", "group"))
        self.arrays("frames.npz", **outputs_of({
            "features": f32(features + [x + draw.gauss(0, 0.01) for x in features], 120, 6),
            "label": i64(label * 2), "group": i64(group * 2), "group_names": scenes["group_names"]}))
        self.says(self.out("data audit features:frames.npz --clusters=clusters.npz --similarity=0.9999"),
                  "120 feature vectors of 6 numbers", "the largest has 2")
        cluster = read_npz(self.program.path("clusters.npz"))["cluster"].values
        self.assertEqual((len(cluster), cluster[:60]), (120, list(range(60))))
        # Noise of 0.01 in 5 directions turns a vector of length r by a cosine below 0.9999 if it is longer than
        # 0.0141 r: never for r above 3, where it would be 4.2 standard deviations.
        found = sum(second == first for second, first in zip(cluster[60:], cluster))
        self.assertGreaterEqual(found, 50)
        self.says(self.out("eval clusters.npz --metrics=auroc --ci"), f"of {120 - found} clusters")
        self.says(self.out("data audit features:frames.npz"), "--clusters=FILE writes")
        for flag, error in (("--clusters=c.csv", "--clusters: must end in .npz"),
                            ("--similarity=1.5", "--similarity: must be above 0 and at most 1"),
                            ("--clusters=frames.npz", "--clusters: is the audited file")):
            self.fails("data audit features:frames.npz " + flag, 2, error)
        self.refused("data audit features:none.npz", "none.npz")
        self.refused("data show features:frames.npz", "feature vectors, not images")


if __name__ == "__main__":
    main()
