"""Tests the functions of the package, in an environment with NumPy and pandas: api_test.py COMMAND [--calls=N].

COMMAND is `openset`, whose numbers must equal those of the functions, to the bit. The metrics are compared with
scikit-learn's if it is installed.
"""
import doctest
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import numpy

import openset

COMMAND = os.path.abspath(sys.argv[1])
CALLS = next((int(word.split("=")[1]) for word in sys.argv[2:] if word.startswith("--calls=")), 40)


def eval_command(arrays, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "call.npz")
        numpy.savez(path, **arrays)
        return json.loads(subprocess.check_output([COMMAND, "eval", path, "--format=json", *flags],
                                                  stderr=subprocess.DEVNULL))


def some_samples(seed, n=120, k=4, d=6):
    random = numpy.random.default_rng(seed)
    label = numpy.where(numpy.arange(n) % 3 > 0, random.integers(0, k, n), -1)
    label[:k] = range(k)
    features = random.normal(size=(n, d)) + 2 * numpy.eye(k + 1, d)[label]
    network = numpy.random.default_rng(k)  # one for all seeds
    head_weight, head_bias = network.normal(size=(k, d)), network.normal(size=k)
    head_weight += 2 * numpy.eye(k, d)
    return dict(label=label, features=features, logits=features @ head_weight.T + head_bias, head_weight=head_weight,
                head_bias=head_bias)


def measured(seed):
    return openset.evaluate(**some_samples(seed), score="energy", ci=True, replicates=40).json


def negative_norm(features):
    """Defined in a file, so that its source can be read."""
    return -(features ** 2).sum(1)


class FunctionsTest(unittest.TestCase):
    def test_docstrings(self):
        for name in ("_arrays", "_evaluate", "_library", "_own_score", "_result", "_study", "_progress", "_curl", "scores"):
            found = doctest.testmod(importlib.import_module(f"openset.{name}"))
            self.assertGreater(found.attempted, 0, name)
            self.assertEqual(found.failed, 0, name)

    def test_numbers_are_those_of_the_command(self):
        random = numpy.random.default_rng(7)
        for call in range(CALLS):
            n, k = int(random.integers(20, 300)), int(random.integers(2, 9))
            label = numpy.where(random.random(n) < 0.6, random.integers(0, k, n), -1)
            label[:2] = 0, -1
            logits = random.normal(size=(n, k))
            if call % 2:
                logits = logits.astype(numpy.float32)
            if call % 3 == 0:
                logits = numpy.round(logits)  # ties
            arrays = dict(label=label, logits=logits)
            score = str(random.choice(["energy", "max_logit", "entropy", "gen", "max_softmax"]))
            more, flags = dict(), []
            if call % 20 == 0:
                arrays["cluster"] = numpy.array([f"c{i // 4}" for i in range(n)]) if call % 40 else numpy.arange(n) // 4
            if call % 10 == 0:
                more, flags = dict(ci=True, replicates=50, seed=call), ["--ci", "--replicates=50", f"--seed={call}"]
            found = openset.evaluate(**arrays, score=score, **more)
            self.assertEqual(found.json, eval_command(arrays, f"--score={score}", *flags), call)
            # AUROC by its definition: the share of pairs in order.
            alone = openset.scores.Score(score).score_samples(logits=logits)
            known, unknown = alone[label >= 0], alone[label < 0]
            pairs = (unknown[:, None] > known).mean() + (unknown[:, None] == known).mean() / 2
            self.assertAlmostEqual(pairs, found["auroc"], places=12, msg=str(call))

    def test_errors_name_array_and_row(self):
        for arrays, message in [
            (dict(label=[0, -7], logits=[[1, 2], [3, 4]]), "samples: array 'label', row 1: is -7"),
            (dict(label=[0, 1], logits=[[1, 2], [3]]), "logits: needs numbers in rows of one length; row 1"),
            (dict(label=[0, 1, 1], logits=[[1, 2], [3, 4]]), "samples: array 'logits' has shape [2, 2]"),
            (dict(label=[0, -1], unknown_score=[0, numpy.nan]), "samples: array 'unknown_score', row 1: is NaN"),
            (dict(label=[0, -1], logits=[[1, 2], [3, 4]], score="enegy"), "did you mean 'energy'?"),
        ]:
            with self.assertRaises(ValueError) as caught:
                openset.evaluate(**arrays)
            self.assertIn(message, str(caught.exception))

        for arguments, message in [
            (dict(replicates="many"), "replicates: must be a whole number (is 'many')"),
            (dict(seed=-1), "seed: must be a whole number from 0 (is -1)"),
            (dict(replicates=0), "--replicates, --level, --threads: "),
            (dict(level="high"), "level: must be a number (is 'high')"),
            (dict(near="svhn"), "group 'svhn' has a role, but the samples have no groups"),
            (dict(metrics=["auroc", "a\"\n\\uc"]), "--metrics: unknown metric"),
        ]:
            with self.assertRaises(ValueError) as caught:
                openset.evaluate(label=[0, -1], unknown_score=[0, 1], **arguments)
            self.assertIn(message, str(caught.exception))

    def test_arrays_in_any_layout(self):
        arrays = some_samples(8)
        logits = numpy.round(arrays["logits"], 2).astype(numpy.float32)
        expected = openset.evaluate(label=arrays["label"], logits=logits).json
        wide = numpy.repeat(numpy.repeat(logits, 2, axis=0), 3, axis=1)
        locked = logits.copy()
        locked.flags.writeable = False
        labels = [arrays["label"].astype(name) for name in ("i1", "i2", "i4", "i8", ">i8", "f4")]
        for changed in (numpy.asfortranarray(logits), wide[::2, ::3], logits[::-1][::-1], logits.astype(">f4"),
                        logits.astype(numpy.float64), locked, logits.tolist(), numpy.require(logits, requirements="A")):
            label = labels.pop() if labels else arrays["label"]
            self.assertEqual(openset.evaluate(label=label, logits=changed).json, expected)
        with self.assertRaisesRegex(ValueError, "array 'logits' can't be read: array of type '<c16' is not supported"):
            openset.evaluate(label=arrays["label"], logits=logits.astype(complex))

    def test_calls_from_several_threads_and_processes(self):
        import concurrent.futures
        import multiprocessing
        expected = measured(3)
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            self.assertEqual(list(threads.map(measured, [3] * 8)), [expected] * 8)
        openset.set_num_threads(1)
        self.assertEqual(measured(3), expected)
        openset.set_num_threads(os.cpu_count())
        # A child that is forked after a call, like a DataLoader's worker.
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(measured, [3, 3]), [expected] * 2)
        for threads in (0, 1.5, "2"):
            with self.assertRaisesRegex(ValueError, "threads: must be a whole number from 1"):
                openset.set_num_threads(threads)

    def test_an_absent_library_is_named(self):
        said = subprocess.run([sys.executable, "-c", "import openset; openset.evaluate(label=[0], unknown_score=[0.])"],
                              env={**os.environ, "OPENSET_MEASURES": "/no/such.so"}, capture_output=True, text=True,
                              check=False).stderr
        self.assertIn("ImportError: openset can't load its library: /no/such.so: ", said)

    def test_the_import_is_light(self):
        heavy = {"numpy", "pandas", "torch", "ctypes", "json", "subprocess", "typing", "inspect", "tempfile"}
        code = f"import sys; before = set(sys.modules); import openset; print({heavy} & (set(sys.modules) - before))"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", code], text=True).strip(), "set()")

    def test_undefined_metrics_are_none_with_a_reason(self):
        found = openset.evaluate(label=[0, -1], unknown_score=[0., 1.])
        self.assertIsNone(found["accuracy"])
        self.assertIn("prediction", found.absent["accuracy"])
        with self.assertRaises(KeyError):
            found["no_metric"]
        only = openset.evaluate(label=[0, 1, -1], unknown_score=[0., 2., 1.], metrics="auroc, fpr95")
        self.assertEqual(list(only.metrics), ["auroc", "fpr_at_95tpr"])
        self.assertEqual((only["fpr95"], only["FPR@95"]), (only["fpr_at_95tpr"], only["fpr_at_95tpr"]))
        with self.assertRaisesRegex(KeyError, "'openauc' was not measured; measured are auroc, fpr_at_95tpr"):
            only["openauc"]

    def test_results_as_tables(self):
        found = openset.evaluate(label=[0, 1, -1], logits=[[3, 1], [0, 2], [1, 1]])
        self.assertIn("<table>", found._repr_html_())
        self.assertIn("\\toprule", found.to_latex())
        self.assertEqual(list(found.to_frame()["metric"])[0], "accuracy")

    def test_scores_have_the_interface_of_scikit_learn(self):
        fit = dict(label=[0, 1], logits=[[2., 0.], [0., 2.]], features=[[1., 0.], [0., 1.]])
        near = openset.scores.KNN(k=1).fit(**fit).score_samples(logits=[[2., 0.], [1., 1.]],
                                                                features=[[1., 0.], [-1., -1.]])
        self.assertLess(near[0], near[1])
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Knnn'"):
            openset.scores.Knnn

    def test_scores_without_samples(self):
        for arrays in (dict(), dict(logits=None), dict(label=[0, 1]), dict(head_weight=[[1.]])):
            with self.assertRaisesRegex(ValueError, r"max_logit: score_samples\(\) needs the samples: give logits="):
                openset.scores.MaxLogit().score_samples(**arrays)
        with self.assertRaisesRegex(ValueError, "array 'logits'"):
            openset.scores.MaxLogit().score_samples(logits=3.0)

    def test_messages_have_no_control_characters(self):
        red = "\x1b[31m\n\u202e"
        arrays = dict(label=[0, -1], unknown_score=[0., 1.])
        for call in (lambda: openset.evaluate(**arrays, metrics=[red]),
                     lambda: openset.evaluate(**arrays, near=[red]),
                     lambda: openset.evaluate(**arrays, group=["", red], near=["x"]),
                     lambda: openset.evaluate(label=[0, -1], logits=[[1., 2.], [3., 4.]], score=red),
                     lambda: openset.compare({red: dict(label=[0, -7], unknown_score=[0., 1.]), "b": arrays}),
                     lambda: openset.compare({"a": {**arrays, red: 1}, "b": arrays}),
                     lambda: openset.evaluate_scores([red, red], **arrays),
                     lambda: openset.scores.Score("knn").fit(**{red: [1]}),
                     lambda: openset.open_store(red).records()):
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertTrue(str(caught.exception).isprintable(), repr(str(caught.exception)))

    def test_study_of_ones_own(self):
        study = openset.Study(name="mine", task="fashion_mnist_6_4", methods=["softmax"], splits=[0], seeds=[0, 1],
                              axes={"training.epochs": [1, 2]})
        self.assertEqual(len(study.plan()["trials"]), 4)
        with self.assertRaisesRegex(ValueError, "unknown method 'softmx'; did you mean 'softmax'"):
            openset.Study(task="fashion_mnist_6_4", methods="softmx").plan()
        with self.assertRaisesRegex(ValueError, "task= makes a study without a spec"):
            openset.Study("quickstart", task="fashion_mnist_6_4")


class HintsTest(unittest.TestCase):
    def setUp(self):
        random = numpy.random.default_rng(46)
        self.label = numpy.where(numpy.arange(300) < 200, random.integers(0, 3, 300), -1)
        self.logits = random.normal(size=(300, 3)) + 3 * numpy.eye(4, 3)[self.label]

    def hints(self, call):
        """The hints of a call, which must be those of its warnings, at our own line."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = call()
        self.assertTrue(all(one.category is openset.HintWarning and one.filename == __file__ for one in caught), caught)
        self.assertEqual([str(one.message) for one in caught], [hint.split(": ", 1)[1] for hint in found.hints]
                         if isinstance(found, openset.Evaluations) else found.hints)
        return found.hints

    def test_none_for_plausible_samples(self):
        self.assertEqual(self.hints(lambda: openset.evaluate(label=self.label, logits=self.logits)), [])
        two = {name: dict(label=self.label, logits=self.logits, score=name) for name in ("max_softmax", "max_logit")}
        self.assertEqual(self.hints(lambda: openset.compare(two, metrics="auroc", replicates=20)), [])

    def test_scores_in_the_other_direction(self):
        score = self.logits.max(1)  # larger for known samples
        found, = self.hints(lambda: openset.evaluate(label=self.label, unknown_score=score))
        self.assertIn("AUROC is 3.4 %: known samples have the larger unknown scores", found)
        self.assertEqual(self.hints(lambda: openset.evaluate(label=self.label, unknown_score=score,
                                                             higher_is_known=True)), [])

        @openset.score
        def confidence(logits):
            return logits.max(1)

        for call in (lambda: openset.evaluate(label=self.label, logits=self.logits, score=confidence),
                     lambda: openset.evaluate_scores([confidence], label=self.label, logits=self.logits)):
            self.assertEqual(len(self.hints(call)), 1)

    def test_shifted_labels(self):
        shifted = numpy.where(self.label >= 0, (self.label + 1) % 3, -1)
        found, = self.hints(lambda: openset.evaluate(label=shifted, logits=self.logits))
        self.assertIn("with the known classes in another order", found)

    def test_a_hint_can_be_an_error(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", openset.HintWarning)
            with self.assertRaisesRegex(openset.HintWarning, "AUROC is "):
                openset.evaluate(label=self.label, unknown_score=self.logits.max(1))


class GivenArraysTest(unittest.TestCase):
    """What people pass: masked arrays, columns of pandas, groups with None."""

    def setUp(self):
        random = numpy.random.default_rng(5)
        self.label = numpy.where(numpy.arange(60) < 40, random.integers(0, 3, 60), -1)
        self.score = random.normal(size=60) + (self.label < 0)
        self.prediction = numpy.maximum(self.label, 0)
        self.names = ["svhn" if row % 2 else "textures, 47" for row in range(60)]

    def measured(self, **changed):
        return openset.evaluate(**{**dict(label=self.label, unknown_score=self.score, prediction=self.prediction,
                                          metrics=["accuracy", "auroc"]), **changed}).json

    def test_masked_arrays_are_refused(self):
        mask = numpy.arange(60) == 3
        ma = numpy.ma.masked_array
        for name, values in (("label", self.label), ("unknown_score", self.score), ("prediction", self.prediction)):
            for masked in (ma(values, mask=mask), list(ma(values, mask=mask))):
                with self.assertRaisesRegex(ValueError, f"^{name} is a masked array: give {name}\\[~mask\\]"):
                    self.measured(**{name: masked})
            self.assertEqual(self.measured(**{name: ma(values)}), self.measured())
            self.assertEqual(self.measured(**{name: ma(values, mask=numpy.zeros(60, bool))}), self.measured())
        wide = ma(numpy.ones((60, 3)), mask=numpy.eye(60, 3))
        with self.assertRaisesRegex(ValueError, "logits is a masked array"):
            openset.evaluate(label=self.label, logits=wide)
        with self.assertRaisesRegex(ValueError, "logits is a masked array"):
            openset.scores.MaxLogit().score_samples(logits=wide)
        with self.assertRaisesRegex(ValueError, "features is a masked array"):
            openset.evaluate(label=[0, -1], logits=numpy.ones((2, 2)), features=numpy.ones((2, 2)), score="knn",
                             fit=dict(label=self.label, features=wide))

    def test_groups_without_a_name(self):
        import pandas
        whole = ["" if label >= 0 else name for label, name in zip(self.label, self.names)]
        expected = self.measured(group=numpy.array(whole))
        self.assertEqual(sorted(expected["groups"]), ["pool", "svhn", "textures, 47"])
        for nothing in (None, numpy.nan, float("nan"), pandas.NA):
            given = [name or nothing for name in whole]
            for group in (given, tuple(given), numpy.array(given, dtype=object), pandas.Series(given),
                          pandas.Series(given, dtype="string"), pandas.Categorical(given)):
                self.assertEqual(self.measured(group=group), expected, f"{nothing} {type(group)}")
        # By index, in the order of the names.
        index = [None if label >= 0 else ["svhn", "textures, 47"].index(name)
                 for label, name in zip(self.label, self.names)]
        for group in (index, pandas.Series(index), pandas.array(index, dtype="Int64"),
                      numpy.array(index, dtype=float), [-1 if one is None else one for one in index]):
            self.assertEqual(self.measured(group=group, group_names=["svhn", "textures, 47"]), expected, type(group))
        # Nobody has a group.
        self.assertEqual(self.measured(group=[None] * 60), self.measured())
        with self.assertRaisesRegex(ValueError, "group: needs numbers in rows of one length"):
            self.measured(group=["svhn", 1, None] * 20)

    def test_columns_of_pandas(self):
        import pandas
        expected = self.measured()
        for label in (pandas.Series(self.label), pandas.Series(self.label, dtype="Int64"),
                      pandas.array(self.label, dtype="Int8"), pandas.Series(self.label.astype(object)),
                      pandas.Categorical(self.label), pandas.Series(self.label, dtype="category"),
                      pandas.Index(self.label)):
            self.assertEqual(self.measured(label=label), expected, getattr(label, "dtype", label))
        for score in (pandas.Series(self.score, dtype="Float64"), pandas.DataFrame({"s": self.score})["s"]):
            self.assertEqual(self.measured(unknown_score=score), expected)
        logits = pandas.DataFrame(numpy.round(numpy.eye(4, 3)[self.label], 1))
        wide = openset.evaluate(label=self.label, logits=logits.to_numpy()).json
        for frame in (logits, logits.astype("Float64")):
            self.assertEqual(openset.evaluate(label=self.label, logits=frame).json, wide)
        for missing in (pandas.array([None, *self.label[1:]], dtype="Int64"), [None, *self.label[1:].tolist()],
                        pandas.Series([numpy.nan, *self.label[1:]]),
                        pandas.Series([pandas.NA, *self.label[1:]], dtype=object)):
            with self.assertRaisesRegex(ValueError, "label: row 0 is missing .*: write -1 for unknown"):
                self.measured(label=missing)
        frame = logits.astype("Float64")
        frame.iloc[7, 2] = pandas.NA
        with self.assertRaisesRegex(ValueError, "logits: row 7 is missing|array 'logits', row 7"):
            openset.evaluate(label=self.label, logits=frame)

    def test_categories_of_texts_are_indices(self):
        import pandas
        names = ["cat", "dog", "owl"]
        of = pandas.Categorical.from_codes
        label, prediction = of(self.label, names), of(self.prediction, names)
        expected, logits = self.measured(), 3. * numpy.eye(4, 3)[self.label]
        for given in (label, pandas.Series(label), pandas.CategoricalIndex(label)):
            self.assertEqual(self.measured(label=given), expected)
            self.assertEqual(self.measured(label=given, prediction=prediction), expected)
            self.assertEqual(openset.evaluate(label=given, logits=logits).json,
                             openset.evaluate(label=self.label, logits=logits).json)
        with self.assertRaisesRegex(ValueError, "label and prediction have different categories"):
            self.measured(label=label, prediction=of(self.prediction, ["dog", "cat", "owl"]))
        with self.assertRaisesRegex(ValueError, "label: has 4 categories, and logits has 3 columns"):
            openset.evaluate(label=of(self.label, [*names, "emu"]), logits=logits)
        with self.assertRaisesRegex(ValueError, "its category 'Unknown' would be a known class"):
            self.measured(label=of(self.label % 4, [*names, "Unknown"]))

    def test_texts_are_no_numbers(self):
        with self.assertRaisesRegex(ValueError, r"unknown_score: has texts \('0.5'\), it needs numbers"):
            self.measured(unknown_score=["0.5"] * 60)
        with self.assertRaisesRegex(ValueError, r"label: has texts \('cat'\).*the index of each sample's class, -1 = un"):
            self.measured(label=["cat"] * 60)
        names = ["dog", "cat", "emu"]
        texts = [names[label] if label >= 0 else ("", "unknown", "Unknown")[row % 3] for row, label in enumerate(self.label)]
        logits = numpy.random.default_rng(2).normal(size=(60, 3))
        given = dict(logits=logits, class_names=names)
        self.assertEqual(openset.evaluate(label=texts, **given).json, openset.evaluate(label=self.label, **given).json)
        with self.assertRaisesRegex(ValueError, "label: row 2: 'cow' is none of class_names; unknown samples have the label"):
            openset.evaluate(label=["dog", "cat", "cow"] * 20, **given)
        with self.assertRaisesRegex(ValueError, r"label: row 3 is missing \(None\): write -1 for unknown samples"):
            self.measured(label=[0, 1, 2, None] * 15)
        missing = [None if label < 0 else names[label] for label in self.label]
        with self.assertRaisesRegex(ValueError, r"label: row \d+ is missing \(None\): write -1 for unknown samples"):
            openset.evaluate(label=missing, **given)
        self.assertEqual(openset.evaluate(label=[text or "-1" for text in missing], **given).json,
                         openset.evaluate(label=self.label, **given).json)


class MemoryTest(unittest.TestCase):
    def test_low_memory_is_an_error(self):
        """The process never ends by a signal, whatever memory is left."""
        code = """if True:
            import resource, sys, numpy, openset
            label = numpy.arange(200000) % 7 - 1
            arrays = dict(label=label, unknown_score=numpy.random.default_rng(1).normal(size=200000))
            openset.evaluate(**{name: values[:100] for name, values in arrays.items()}, ci=True, replicates=20)
            size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[1]) * 2**20,) * 2)
            try:
                openset.evaluate(**arrays, ci=True, replicates=20)
                print("measured")
            except MemoryError:
                print("MemoryError")"""
        said = set()
        for threads in ("1", "4"):
            for megabytes in (1, 4, 8, 16, 24, 32, 48, 4000):
                done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(megabytes)], check=False, text=True,
                                      capture_output=True, env={**os.environ, "OMP_NUM_THREADS": threads})
                self.assertEqual(done.returncode, 0, f"{threads} threads, {megabytes} MB: {done.stderr}")
                said.add(done.stdout.strip())
        self.assertEqual(said, {"measured", "MemoryError"})


@unittest.skipUnless(importlib.util.find_spec("sklearn"), "no scikit-learn")
class ScikitLearnTest(unittest.TestCase):
    def test_metrics_agree(self):
        from sklearn import metrics
        random = numpy.random.default_rng(11)
        for call in range(CALLS):
            n = int(random.integers(50, 500))
            label = numpy.where(random.random(n) < 0.6, random.integers(0, 5, n), -1)
            label[:2] = 0, -1
            prediction = numpy.where(random.random(n) < 0.8, numpy.maximum(label, 0), 2)
            score = random.normal(size=n) + (label < 0)
            score = numpy.round(score, 1) if call % 2 else score  # ties
            unknown, known = label < 0, label >= 0
            fpr, tpr, _ = metrics.roc_curve(known, -score, drop_intermediate=False)
            expected = {"auroc": metrics.roc_auc_score(unknown, score),
                        "aupr_unknown": metrics.average_precision_score(unknown, score),
                        "aupr_known": metrics.average_precision_score(known, -score),
                        "fpr_at_95tpr": fpr[(tpr >= 0.95).argmax()],
                        "accuracy": metrics.accuracy_score(label[known], prediction[known])}
            found = openset.evaluate(label=label, prediction=prediction, unknown_score=score, metrics=list(expected))
            for name, value in expected.items():
                self.assertAlmostEqual(found[name], value, places=10, msg=f"{name}, call {call}")


class OwnScoreTest(unittest.TestCase):
    def test_one_that_is_ours_gives_its_numbers(self):
        @openset.score
        def energy_again(logits):
            top = logits.astype(numpy.float32).max(1)  # any increasing function of ours ranks alike; this one is max_logit
            return -top

        arrays = {name: values for name, values in some_samples(3).items() if name in ("label", "logits")}
        found = openset.evaluate_scores(["max_logit", energy_again], **arrays, metrics=["auroc", "openauc", "aurc"])
        for metric in ("auroc", "openauc", "aurc"):
            self.assertEqual(found["energy_again"][metric], found["max_logit"][metric])
        self.assertEqual(found["energy_again"].score["sha256"], energy_again.sha256)
        self.assertEqual([row.get("sha256") for row in found.rows], [None, energy_again.sha256])

    def test_the_digest_is_that_of_its_text(self):
        import hashlib
        import inspect
        expected = hashlib.sha256(inspect.getsource(negative_norm).encode()).hexdigest()
        self.assertEqual(openset.score(negative_norm).sha256, expected)

    def test_arrays_and_fit_are_given_by_name(self):
        @openset.score
        def distance(features, fit, scale=2.0):
            return scale * numpy.linalg.norm(features - fit["features"].mean(0), axis=1)

        test, train = some_samples(1), some_samples(2)
        found = openset.evaluate(**test, score=distance, fit=train, metrics="auroc")
        by_hand = numpy.linalg.norm(test["features"] - train["features"].mean(0), axis=1)
        expected = openset.evaluate(label=test["label"], unknown_score=by_hand, metrics="auroc")
        self.assertEqual(found["auroc"], expected["auroc"])
        with self.assertRaisesRegex(ValueError, "score distance: needs fit; give fit="):
            openset.evaluate(**test, score=distance)

    def test_compared_beside_ours(self):
        own, arrays = openset.score(negative_norm), some_samples(4)
        logits = {name: arrays[name] for name in ("label", "logits")}
        ours = openset.scores.Energy().score_samples(logits=arrays["logits"])
        found = openset.compare({"own": dict(arrays, score=own), "energy": dict(logits, score="energy")},
                                metrics=["auroc"], replicates=200)
        expected = openset.compare(
            {"own": dict(logits, unknown_score=negative_norm(arrays["features"])),
             "energy": dict(logits, unknown_score=ours)}, metrics=["auroc"], replicates=200)
        self.assertEqual(found.rows, expected.rows)

    def test_hints_of_comparisons(self):
        import pandas
        a = dict(label=[0, 0, -1], unknown_score=[.1, .2, .15])
        with self.assertWarnsRegex(openset.HintWarning, "a and b have the same scores .*: is one a copy of the other"):
            found = openset.compare({"a": a, "b": a}, metrics="auroc", replicates=20)
        self.assertEqual(len(found.hints), 1)
        rows = [dict(method=method, split=split, auroc=.5 + .1 * split) for method in "ab" for split in range(3)]
        with self.assertWarnsRegex(openset.HintWarning, "left out: auroc: a and b: 1 run without a partner"):
            openset.compare(pandas.DataFrame([*rows, dict(method="a", split=3, auroc=.9)]))

    def test_a_cost_map(self):
        right, half = dict(label=[0, 0, -1], unknown_score=[.1, .2, .9]), dict(label=[0, 0, -1], unknown_score=[.1, .9, .9])
        rows = openset.compare({"right": right, "half": half}, replicates=20, cost_map=True).rows
        self.assertEqual(len(rows), 2 * 90)
        cell = {row["method"]: row for row in rows if (row["prevalence"], row["unknown_cost"]) == (.5, 1)}
        self.assertEqual((cell["right"]["expected_cost"], cell["half"]["expected_cost"]), (0, .25))
        with self.assertRaisesRegex(ValueError, "--metrics: must be expected_cost alone"):
            openset.compare({"right": right, "half": half}, metrics="auroc", cost_map=True)

    def test_results_over_splits(self):
        import pandas
        rows = [dict(trial=f"{method}{split}", method=method, task="t", split=split, seed=0, auroc=value)
                for method, values in (("a", (.8, .81, .84)), ("b", (.7, .72, .73))) for split, value in enumerate(values)]
        found = openset.compare(pandas.DataFrame(rows), metrics=["auroc"]).rows
        self.assertEqual([(row["a"], row["b"]) for row in found], [("a", "b")])
        self.assertAlmostEqual(found[0]["mean_difference"], (.1 + .09 + .11) / 3)
        with self.assertRaisesRegex(ValueError, "methods: there is one method only"):
            openset.compare(pandas.DataFrame([dict(method="a", auroc=1)]))
        with self.assertRaisesRegex(ValueError, "cost_map: compares scores on the same samples"):
            openset.compare(pandas.DataFrame(rows), cost_map=True)

    def test_thresholds(self):
        chosen = openset.threshold(some_samples(5), some_samples(6), score=openset.score(negative_norm), target=0.9)
        self.assertEqual(chosen.rejects([chosen.value, numpy.inf]).tolist(), [False, True])
        with self.assertRaisesRegex(ValueError, "unknown_score: 1 of 2 are NaN"):
            chosen.rejects(numpy.array([numpy.nan, 0.5]))
        self.assertEqual((chosen.rule, chosen.target), ("known_accepted", 0.9))
        self.assertIn(f"threshold {chosen.value!r}, chosen by known_accepted, target 0.9: a sample is rejected", str(chosen))
        self.assertIn("no guarantee: ", str(chosen))

    def test_a_threshold_rejects_outputs(self):
        validation, new, fit = some_samples(5), some_samples(6), some_samples(7)
        outputs = {name: new[name] for name in ("logits", "features", "head_weight", "head_bias")}
        for score in (None, "energy", openset.scores.KNN(k=3)):
            chosen = openset.threshold(validation, target=0.9, score=score, fit=fit)
            of = openset.scores.MaxSoftmax() if score is None else openset.scores.Energy() if score == "energy" else score
            own = of.fit(**fit).score_samples(**outputs)
            self.assertEqual(chosen.rejects(**outputs).tolist(), (own > chosen.value).tolist())
            self.assertEqual(chosen.rejects(own).tolist(), (own > chosen.value).tolist())
        chosen = openset.threshold(validation, target=0.9)
        softmax = numpy.exp(new["logits"]) / numpy.exp(new["logits"]).sum(1, keepdims=True)
        with self.assertWarnsRegex(openset.HintWarning, "all 120 scores are above the threshold, .*max_softmax"):
            self.assertTrue(chosen.rejects(1 - softmax.max(1)).all())  # openset's is -max
        with self.assertRaisesRegex(ValueError, "rejects: give either unknown_score or outputs"):
            chosen.rejects()
        chosen = openset.threshold(dict(label=[0, 1], unknown_score=[0.1, 0.2]))
        with self.assertRaisesRegex(ValueError, "rejects: the threshold was chosen on scores that you gave"):
            chosen.rejects(logits=new["logits"])

    def test_one_that_changes_its_arrays(self):
        for change in (lambda logits: logits.sort(), lambda logits: logits.fill(0),
                       lambda logits: numpy.negative(logits, out=logits)):
            def mine(logits, features, fit):
                for values in (logits, features, fit["logits"]):
                    change(values)
                return logits[:, 0]

            arrays, fit = some_samples(1), some_samples(2)
            before = {name: values.copy() for name, values in arrays.items()}
            with self.assertRaisesRegex(ValueError, "read-only"):
                openset.evaluate_scores(["max_logit", openset.score(mine), "energy"], **arrays, fit=fit)
            for name, values in arrays.items():
                numpy.testing.assert_array_equal(values, before[name])
                self.assertTrue(values.flags.writeable)

        @openset.score
        def copied(logits, fit):
            return numpy.sort(logits)[:, 0] + fit["logits"].copy().max()

        self.assertIsNotNone(openset.evaluate(**arrays, score=copied, fit=fit)["auroc"])

    def test_what_is_no_score(self):
        with self.assertRaisesRegex(ValueError, "has the parameter 'image'; a score takes any of logits"):
            openset.score(lambda image: 0)
        arrays = dict(label=[0, -1], logits=[[1., 2.], [3., 4.]])
        for function, message in [
            (lambda logits: logits, r"returned float64 \[2, 2\] for 2 samples"),
            (lambda logits: numpy.array([0, numpy.nan]), "row 1: is NaN"),
            (lambda logits: ["a", "b"], "returned <U1"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                openset.evaluate(**arrays, score=openset.score(function))
        for score, message in ((negative_norm, "score: 'negative_norm' is a function: decorate it with @openset.score"),
                               (openset.scores.KNN, r"one of openset.scores is called, as in KNN\(k=50\)"),
                               (5, "score: must be a name .*is int")):
            with self.assertRaisesRegex(ValueError, message):
                openset.evaluate(**arrays, score=score)


class AnswersTest(unittest.TestCase):
    """Right and wrong answers without classes."""

    def test_correct_and_loss(self):
        score, correct = numpy.array([0.1, 0.3, 0.2, 0.4]), numpy.array([1, 1, 0, 0])
        expected = (0 + 1 / 2 + 1 / 3 + 2 / 4) / 4
        found = openset.evaluate(unknown_score=score, correct=correct, metrics=["aurc", "accuracy"])
        self.assertAlmostEqual(found["aurc"], expected, places=15)
        self.assertEqual(found["accuracy"], 0.5)
        self.assertEqual(openset.evaluate(unknown_score=score, correct=correct.astype(bool), metrics="aurc")["aurc"],
                         found["aurc"])
        self.assertEqual(openset.evaluate(unknown_score=score, loss=1.0 - correct, metrics="aurc")["aurc"], found["aurc"])
        with self.assertRaisesRegex(ValueError, "'label'"):
            openset.evaluate(unknown_score=score)


class DetectorTest(unittest.TestCase):
    """The command and the module decide the same by one file."""

    def test_decisions_are_those_of_the_command(self):
        random = numpy.random.default_rng(4)

        def outputs(n):
            label = random.integers(-1, 3, n)
            features = (random.normal(size=(n, 8)) + 2 * (label[:, None] == numpy.arange(8))).astype("f4")
            return dict(label=label, features=features, logits=2 * features[:, :3])

        validation, fit, new = outputs(400), outputs(300), outputs(100_000)
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: os.path.join(folder, name + ".npz") for name in ("validation", "fit", "new", "d", "c")}
            for name, arrays in (("validation", validation), ("fit", fit), ("new", new)):
                numpy.savez(paths[name], **arrays)
            for score in ("energy", "mahalanobis"):
                flags = ["--rule=conformal", "--target=0.9", f"--score={score}", f"--fit={paths['fit']}"]
                subprocess.run([COMMAND, "detector", "save", paths["validation"], *flags, f"--out={paths['c']}"],
                               check=True, stdout=subprocess.DEVNULL)
                detector = openset.Detector.save(paths["d"], validation, score=score, fit=fit, rule="conformal",
                                                 target=0.9)
                for path in (paths["c"], paths["d"]):  # each reads the other's file
                    read = openset.Detector(path)
                    self.assertEqual(read.threshold, detector.threshold)
                    found = read.apply(logits=new["logits"], features=new["features"])
                    table = subprocess.check_output([COMMAND, "detector", "apply", path, paths["new"]],
                                                    stderr=subprocess.DEVNULL, text=True).splitlines()
                    self.assertEqual(table[0], "sample,unknown_score,decision,prediction")
                    self.assertEqual(len(table), 100_001)
                    rows = [line.split(",") for line in table[1:]]
                    self.assertEqual([float(row[1]) for row in rows], found.unknown_score.tolist())
                    self.assertEqual([row[2] == "rejected" for row in rows], found.rejected.tolist())
                    self.assertEqual([int(row[3]) for row in rows], found.prediction.tolist())
                self.assertIn("guarantee", repr(detector))
            self.assertEqual(detector.class_names, [])
            names = ["ant", "bee", "cat"]
            named = openset.Detector.save(paths["d"], {**validation, "class_names": names}, score="energy")
            self.assertEqual(named.class_names, names)
            numpy.savez(paths["new"], **{name: values[:9] for name, values in new.items()})
            table = subprocess.check_output([COMMAND, "detector", "apply", paths["d"], paths["new"]],
                                            stderr=subprocess.DEVNULL, text=True).splitlines()
            self.assertEqual([line.split(",")[3] for line in table[1:]],
                             [names[k] for k in new["logits"][:9].argmax(1)])
            with self.assertRaisesRegex(ValueError, "its classes are bee, ant, cat, and the detector's ant, bee, cat"):
                named.apply(logits=new["logits"][:9], class_names=["bee", "ant", "cat"])
            with self.assertRaisesRegex(ValueError, "class_names' has 2 names of 3 classes"):
                openset.Detector.save(paths["d"], {**validation, "class_names": names[:2]}, score="energy")
            with self.assertRaisesRegex(ValueError, "it is of another network"):
                detector.apply(logits=new["logits"][:, :2], features=new["features"])
            with self.assertRaisesRegex(ValueError, "outputs: has no logits"):
                detector.apply(features=new["features"])
            with self.assertRaisesRegex(ValueError, "is not a detector"):
                openset.Detector(paths["new"])


    # A process keeps what it has read and fitted, but not of a file that has changed.
    def test_a_file_that_changes(self):
        import time
        arrays, fit = some_samples(5), some_samples(7)
        outputs = {name: arrays[name] for name in ("logits", "features")}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "d.npz")
            for seconds in (0, 3):  # only files that are older than 2 s are kept
                for score in (openset.scores.KNN(k=3), openset.scores.ViM(principal_dim=2), openset.scores.Energy()):
                    detector = openset.Detector.save(path, arrays, score=score, fit=fit, target=0.9)
                    time.sleep(seconds)
                    expected = score.fit(**fit).score_samples(**{name: arrays[name] for name in (
                        "logits", "features", "head_weight", "head_bias")}).tolist()
                    for _ in range(3):
                        found = detector.apply(**outputs)
                        self.assertEqual(found.unknown_score.tolist(), expected)
                        self.assertEqual(found.rejected.tolist(), [one > detector.threshold for one in expected])


class TrainerTest(unittest.TestCase):
    """openset.trainer in the folder that openset makes for a training (docs/trainer.md)."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "state"))
        trial = {
            "format": 1, "seed": "7", "device": "cpu", "precision": "FP32", "threads": 1, "class_names": ["a", "b"],
            "parameters": {"trees": "10"},
            "method": {"training": {"epochs": 3, "batch_size": 4}, "input": {"size": 4, "channels": 1, "mean": [0.5]}},
        }
        self.write("trial.json", json.dumps(trial))
        images = numpy.arange(10 * 4 * 4, dtype=numpy.uint8).reshape(10, 4, 4, 1)
        self.samples("train", images=images, label=numpy.arange(10) % 2)
        self.samples("test", images=images[:3], label=numpy.array([0, 1, -1]))
        patched = mock.patch.dict(os.environ, {"OPENSET_TRIAL": os.path.join(self.folder, "trial.json")})
        patched.start()
        self.addCleanup(patched.stop)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def samples(self, part, **arrays):
        n = len(arrays["label"])
        numpy.savez(os.path.join(self.folder, part + ".npz"), group=numpy.full(n, -1),
                    group_names=numpy.array([], dtype="U1"), sample=numpy.arange(n).astype("U4"), **arrays)

    def test_batches(self):
        import openset.trainer
        trial = openset.trainer.load()
        self.assertEqual((trial.seed, trial.parameters["trees"], trial.class_names), (7, "10", ["a", "b"]))
        inputs, labels = trial.arrays("test")
        self.assertEqual((inputs.shape, inputs.dtype, labels.tolist()), ((3, 1, 4, 4), numpy.float32, [0, 1, -1]))
        # (3 / 255 - mean) / std, with a std of 1
        self.assertAlmostEqual(float(inputs[0, 0, 0, 3]), 3 / 255 - 0.5, places=6)
        first = [labels.tolist() for _, labels in trial.train(epoch=1)]
        self.assertEqual([len(batch) for batch in first], [4, 4, 2])
        self.assertEqual(first, [labels.tolist() for _, labels in trial.train(epoch=1)])
        self.assertNotEqual(first, [labels.tolist() for _, labels in trial.train(epoch=2)])
        self.assertEqual(list(trial.epochs()), [1, 2, 3])
        self.assertEqual(list(trial.epochs(after=2)), [3])
        with self.assertRaisesRegex(ValueError, "this trial has no samples 'validation'"):
            trial.arrays("validation")

    def test_outputs(self):
        import openset.trainer
        trial = openset.trainer.load()
        trial.progress(1, loss=0.5)
        weight = numpy.ones((2, 16), dtype=numpy.float32)
        trial.finish(lambda inputs: (inputs.reshape(len(inputs), -1) @ weight.T, inputs.reshape(len(inputs), -1)),
                     head=(weight, numpy.zeros(2, dtype=numpy.float32)))
        with open(os.path.join(self.folder, "progress.jsonl"), encoding="utf-8") as file:
            self.assertEqual(json.loads(file.read()), {"epoch": 1, "epochs": 3, "loss": 0.5})
        for name, rows in (("outputs.npz", 3), ("fit.npz", 10)):
            with numpy.load(os.path.join(self.folder, name)) as written:
                self.assertEqual(written["logits"].shape, (rows, 2))
                self.assertEqual(written["features"].shape, (rows, 16))
                self.assertEqual(written["head_weight"].shape, (2, 16))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "validation_outputs.npz")))

    def test_outside_of_a_training(self):
        import openset.trainer
        self.write("trial.json", '{"format": 2}')
        with self.assertRaisesRegex(ValueError, "is of format 2, and this openset reads 1"):
            openset.trainer.load()
        with mock.patch.dict(os.environ, {"OPENSET_TRIAL": ""}):
            with self.assertRaisesRegex(RuntimeError, "OPENSET_TRIAL is not set"):
                openset.trainer.load()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
