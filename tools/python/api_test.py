"""The functions of the package, in an environment that has NumPy and pandas: api_test.py COMMAND STORE [--calls=N].

COMMAND is `openset`, whose numbers must be those of the functions, to the bit. STORE is a store with two records
(experiments/store/testdata/version_2). What needs torch, torchmetrics or Lightning is skipped where it is not installed.
"""
import doctest
import http.server
import importlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy

import openset

COMMAND, STORE = (os.path.abspath(path) for path in sys.argv[1:3])
CALLS = next((int(word.split("=")[1]) for word in sys.argv[3:] if word.startswith("--calls=")), 40)
LIGHTNING = importlib.util.find_spec("lightning") or importlib.util.find_spec("pytorch_lightning")


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
    head_weight, head_bias = random.normal(size=(k, d)), random.normal(size=k)
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
        for name in ("_evaluate", "_library", "_own_score", "_result", "_study", "_progress", "_curl", "scores"):
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
            (dict(near="svhn"), "set 'svhn' has a role, but the samples belong to no sets"),
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
        # A child that is forked after a call, as a DataLoader's worker.
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

    def test_study_of_ones_own(self):
        study = openset.Study(name="mine", task="fashion_mnist_6_4", methods=["softmax"], splits=[0], seeds=[0, 1],
                              axes={"training.epochs": [1, 2]})
        self.assertEqual(len(study.plan()["trials"]), 4)
        with self.assertRaisesRegex(ValueError, "unknown method 'softmx'; did you mean 'softmax'"):
            openset.Study(task="fashion_mnist_6_4", methods="softmx").plan()
        with self.assertRaisesRegex(ValueError, "task= makes a study without a spec"):
            openset.Study("quickstart", task="fashion_mnist_6_4")


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

    def test_results_over_splits(self):
        import pandas
        rows = [dict(trial=f"{method}{split}", method=method, task="t", split=split, seed=0, auroc=value)
                for method, values in (("a", (.8, .81, .84)), ("b", (.7, .72, .73))) for split, value in enumerate(values)]
        found = openset.compare(pandas.DataFrame(rows), metrics=["auroc"]).rows
        self.assertEqual([(row["a"], row["b"]) for row in found], [("a", "b")])
        self.assertAlmostEqual(found[0]["mean_difference"], (.1 + .09 + .11) / 3)
        with self.assertRaisesRegex(ValueError, "methods: there is one method only"):
            openset.compare(pandas.DataFrame([dict(method="a", auroc=1)]))

    def test_thresholds(self):
        chosen = openset.threshold(some_samples(5), some_samples(6), score=openset.score(negative_norm), target=0.9)
        self.assertEqual(chosen.rejects([chosen.value, numpy.inf]).tolist(), [False, True])

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


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.store = openset.open_store(STORE)

    def test_rows(self):
        found = self.store.records("method=openauc")
        self.assertEqual([(row["method"], row["split"], row["openauc"]) for row in found.rows], [("openauc", 1, 0.8125)])
        self.assertEqual(found.metric_names(), ["openauc"])
        both = self.store.records() + found
        self.assertEqual(list(both.to_frame()["method"]), ["softmax", "openauc", "openauc"])
        with self.assertRaisesRegex(ValueError, "did you mean 'openauc'"):
            self.store.records("openauk>0.5")

    def test_one_record(self):
        record = self.store.record("926b")
        self.assertEqual(record.metrics, {"openauc": 0.8125, "aurc": None})
        self.assertEqual(record.spec["seed"], "7")
        self.assertEqual(list(record.epochs()["loss"]), [1.5])
        self.assertEqual(list(record.curves().columns), ["curve", "set", "x", "y"])
        with self.assertRaisesRegex(ValueError, "no longer exists"):
            record.outputs()

    def test_trackers_get_parameters_and_metrics(self):
        mlflow = mock.MagicMock()
        with mock.patch.dict(sys.modules, mlflow=mlflow):
            self.store.records("seed=7").to_mlflow("mine")
        mlflow.set_experiment.assert_called_once_with("mine")
        mlflow.log_metrics.assert_called_once_with({"openauc": 0.8125})
        self.assertEqual(mlflow.log_params.call_args[0][0]["lambda"], 0.1)
        wandb = mock.MagicMock()
        with mock.patch.dict(sys.modules, wandb=wandb):
            self.store.records().to_wandb("mine")
        self.assertEqual([call[1]["name"] for call in wandb.init.call_args_list],
                         ["softmax fashion_mnist_6_4 1 8", "openauc fashion_mnist_6_4 1 7"])
        wandb.init.return_value.summary.update.assert_called_with({"openauc": 0.8125})

    def test_absent_trackers_are_named(self):
        for name, call in (("mlflow", lambda found: found.to_mlflow()), ("wandb", lambda found: found.to_wandb("a"))):
            with mock.patch.dict(sys.modules, {name: None}):
                with self.assertRaisesRegex(ImportError, f"pip install {name}"):
                    call(self.store.records())

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "no pyarrow")
    def test_parquet(self):
        import pandas
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "records.parquet")
            self.store.records().to_parquet(path)
            self.assertEqual(list(pandas.read_parquet(path)["openauc"]), [0.8125, 0.8125])


class ProgressTest(unittest.TestCase):
    def test_bar(self):
        from openset._progress import Bar
        shown = mock.MagicMock()
        with Bar(shown) as bar:
            bar.line("quickstart: 16 of 16 trials to run")
            bar.line("[ 3/12] trained   softmax, <split 0> (12s)")
        self.assertEqual(shown.return_value.update.call_count, 1)
        self.assertEqual(bar._repr_html_(), "<progress value='0.250' max='1'></progress> "
                                            "[ 3/12] trained   softmax, &lt;split 0&gt; (12s)")


class Served(http.server.BaseHTTPRequestHandler):
    content = bytes(range(256)) * 400

    def do_GET(self):  # noqa: N802
        if self.path == "/absent":
            return self.send_error(404)
        begin = int(self.headers.get("Range", "bytes=0-").split("=")[1].rstrip("-"))
        if self.path == "/whole" and begin:
            begin = 0
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(self.content) - begin))
        self.end_headers()
        self.wfile.write(self.content[begin:] if self.path != "/broken" else self.content[begin:begin + 7])

    def log_message(self, *_):
        pass


class CurlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Served)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def fetch(self, path, before=b"", most=10**6, protocols="=http"):
        from openset import _curl
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "part")
            out.write_bytes(before)
            code = _curl.main(["--fail", "--location", "--retry", "0", "--speed-time", "60", "--silent", "--globoff",
                               "--proto", protocols, "--proto-redir", protocols, "--max-filesize", str(most),
                               "--continue-at", "-", "--output", str(out), "--dump-header", f"{folder}/head", "--url",
                               f"http://127.0.0.1:{self.server.server_address[1]}{path}"])
            return code, out.read_bytes()

    def test_exit_codes_are_those_of_curl(self):
        content = Served.content
        self.assertEqual(self.fetch("/file"), (0, content))
        self.assertEqual(self.fetch("/file", before=content[:1000]), (0, content))
        self.assertEqual(self.fetch("/whole", before=b"x"), (33, b"x"))
        self.assertEqual(self.fetch("/absent")[0], 22)
        self.assertEqual(self.fetch("/file", most=100)[0], 63)
        self.assertEqual(self.fetch("/broken"), (18, content[:7]))
        self.assertEqual(self.fetch("/file", protocols="=https")[0], 1)


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class TorchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import torch
        torch.manual_seed(3)
        cls.torch = torch
        cls.net = torch.nn.Sequential()
        cls.net.add_module("body", torch.nn.Linear(5, 6))
        cls.net.add_module("relu", torch.nn.ReLU())
        cls.net.add_module("fc", torch.nn.Linear(6, 3))
        cls.images, cls.labels = torch.randn(60, 5), torch.arange(60) % 3
        cls.unknown = torch.randn(40, 5) + 2
        with torch.inference_mode():
            cls.logits = cls.net(cls.images)
            cls.features = cls.net.relu(cls.net.body(cls.images))

    def loader(self, images=None, labels=None):
        images = self.images if images is None else images
        labels = self.labels[:len(images)] if labels is None else labels
        return [(images[at:at + 20], labels[at:at + 20]) for at in range(0, len(images), 20)]

    def test_collect(self):
        self.net.train()
        found = openset.collect(self.net, self.loader(), head="fc")
        self.assertTrue(self.net.training)
        numpy.testing.assert_array_equal(found["logits"], self.logits.numpy())
        numpy.testing.assert_array_equal(found["features"], self.features.numpy())
        numpy.testing.assert_array_equal(found["head_weight"], self.net.fc.weight.detach().numpy())
        self.assertEqual(found["label"].tolist(), self.labels.tolist())
        with self.assertRaisesRegex(ValueError, "the model has no layer 'head'; linear layers: body, fc"):
            openset.collect(self.net, self.loader(), head="head")
        with self.assertRaisesRegex(ValueError, "loader: has no batch"):
            openset.collect(self.net, [], head="fc")

    def test_tensors_are_arrays(self):
        from openset import _arrays
        for tensor in (self.logits, self.logits.T, self.logits[::2], self.logits.double(), self.labels):
            self.assertTrue(numpy.shares_memory(_arrays.to_numpy("logits", tensor), tensor.numpy()))
        half = self.torch.tensor([1, 1.5], dtype=self.torch.bfloat16, requires_grad=True)
        self.assertEqual(_arrays.to_numpy("logits", half).tolist(), [1, 1.5])
        found = openset.evaluate(label=self.labels, logits=self.logits)
        self.assertEqual(found.json, openset.evaluate(label=self.labels.numpy(), logits=self.logits.numpy()).json)

    def test_detector(self):
        from openset import detectors
        torch = self.torch
        detector = detectors.Detector("knn { k: 3 }", self.net).fit(self.loader())
        train = dict(label=self.labels, logits=self.logits, features=self.features)
        with torch.inference_mode():
            features = self.net.relu(self.net.body(self.unknown))
            logits = self.net.fc(features)
        expected = openset.scores.KNN(k=3).fit(**train).score_samples(logits=logits, features=features)
        numpy.testing.assert_array_equal(detector(self.unknown).numpy(), expected)
        by_features = detectors.Detector("knn { k: 3 }", self.net).fit_features(self.features, self.labels)
        numpy.testing.assert_array_equal(by_features.predict_features(features).numpy(), expected)

    def test_openood_evaluator(self):
        from openset import openood
        unknown = {"noise": [{"data": self.unknown, "label": self.torch.zeros(40)}]}
        evaluator = openood.Evaluator(self.net, "toy", "ebo", dataloaders={
            "id": {"test": self.loader()}, "ood": {"far": unknown}})
        self.assertAlmostEqual(evaluator.eval_acc(), 100 * float((self.logits.argmax(1) == self.labels).double().mean()))
        with self.torch.inference_mode():
            logits = self.torch.cat([self.logits, self.net(self.unknown)])
        expected = openset.evaluate(label=[*self.labels.tolist(), *[-1] * 40], logits=logits, score="energy",
                                    convention="openood")
        table = evaluator.eval_ood()
        self.assertEqual(list(table.index), ["noise", "farood"])
        for column in ("FPR@95", "AUROC", "AUPR_IN", "AUPR_OUT", "ACC"):
            self.assertEqual(table.loc["noise", column], 100 * expected[column], column)
            self.assertEqual(table.loc["farood", column], 100 * expected[column], column)
        with self.assertRaisesRegex(ValueError, "'odin' is no score of openset that needs no network"):
            openood.Evaluator(self.net, "toy", "odin", dataloaders={"id": {"test": []}})

    @unittest.skipUnless(importlib.util.find_spec("torchmetrics"), "no torchmetrics")
    def test_torchmetrics(self):
        from openset import torchmetrics
        logits = self.torch.cat([self.logits, self.logits[:20] / 3])
        label = self.torch.cat([self.labels, self.torch.full((20,), -1)])
        expected = openset.evaluate(label=label, logits=logits)
        for name, metric in (("openauc", torchmetrics.OpenAUC()), ("oscr", torchmetrics.OSCR()),
                             ("augrc", torchmetrics.AUGRC()), ("auroc", torchmetrics.OpenSetMetric("auroc"))):
            for at in range(0, 80, 16):
                metric.update(logits[at:at + 16], label[at:at + 16])
            self.assertEqual(metric.compute().item(), expected[name], name)
            metric.reset()
        scored = torchmetrics.OpenAUC()
        scored.update(logits, label, -logits.max(1).values)
        self.assertEqual(scored.compute().item(), openset.evaluate(label=label, logits=logits, score="max_logit")["openauc"])
        with self.assertRaisesRegex(ValueError, "in every batch or in none"):
            scored.update(logits, label)

    @unittest.skipUnless(LIGHTNING, "no Lightning")
    def test_lightning(self):
        try:
            import lightning.pytorch as pl
        except ImportError:
            import pytorch_lightning as pl
        from openset.lightning import WriteOutputs
        net = self.net

        class Module(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = net

            def test_step(self, batch, _):
                self.net(batch[0])

        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "outputs.npz")
            trainer = pl.Trainer(callbacks=[WriteOutputs(out, head="net.fc")], logger=False, accelerator="cpu",
                                 enable_progress_bar=False, enable_checkpointing=False, default_root_dir=folder)
            data = self.torch.utils.data
            loader = data.DataLoader(data.TensorDataset(self.images, self.labels), batch_size=20)
            trainer.test(Module(), loader, verbose=False)
            with numpy.load(out) as found:
                numpy.testing.assert_array_equal(found["logits"], self.logits.numpy())
                numpy.testing.assert_array_equal(found["features"], self.features.numpy())
                self.assertEqual(found["label"].tolist(), self.labels.tolist())


class AbsentLibrariesTest(unittest.TestCase):
    def test_each_is_named(self):
        for module, message in (("torchmetrics", "pip install torchmetrics"),
                                ("detectors", "pip install 'openset\\[train\\]'"),
                                ("openood", "pip install 'openset\\[train\\]'"),
                                ("lightning", "pip install lightning")):
            kept = {name: found for name, found in sys.modules.items() if name != f"openset.{module}"}
            with mock.patch.dict(sys.modules, {**kept, "torch": None}, clear=True):
                with self.assertRaisesRegex(ImportError, message):
                    importlib.import_module(f"openset.{module}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
