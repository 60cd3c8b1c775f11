"""Tests the package together with other libraries: torch_test.py.

Tests that need PyTorch, torchmetrics or Lightning are skipped if it is not installed.
"""
import contextlib
import importlib
import importlib.util
import io
import os
import re
import shutil
import sys
import tempfile
import textwrap
import unittest
import warnings
from unittest import mock

import numpy

import openset

LIGHTNING = importlib.util.find_spec("lightning") or importlib.util.find_spec("pytorch_lightning")


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
        for model in (self.net.state_dict(), "net.pth", lambda batch: batch):
            with self.assertRaisesRegex(ValueError, "model: with a loader, it must be a torch.nn.Module"):
                openset.collect(model, self.loader())
        script = self.torch.jit.script(self.net)
        numpy.testing.assert_array_equal(openset.collect(script, self.loader())["logits"], self.logits.numpy())
        with self.assertRaisesRegex(ValueError, "head: the layers of a TorchScript network can't be read"):
            openset.collect(script, self.loader(), head="fc")
        one_hot = self.torch.eye(3)[self.labels]
        with self.assertRaisesRegex(ValueError, r"the labels of a batch have the shape \[20, 3\]; .*not one-hot"):
            openset.collect(self.net, self.loader(labels=one_hot))
        with self.assertRaisesRegex(ValueError, "loader: the labels are no whole numbers"):
            openset.collect(self.net, self.loader(labels=self.labels / 2))
        with self.assertRaisesRegex(ValueError, "loader: has no batch"):
            openset.collect(self.net, [], head="fc")
        images, labels = next(iter(self.loader()))
        with self.assertRaisesRegex(ValueError, f"loader: batch 0 has {len(labels) - 1} labels for {len(labels)} images"):
            openset.collect(self.net, [(images, labels[1:])])
        with self.assertRaisesRegex(ValueError, "model: returned NaN for sample 1"):
            openset.collect(self.net, [(images[:1], labels[:1]), (images[:1] * float("nan"), labels[:1])])
        numpy.testing.assert_array_equal(openset.collect(self.net, [(images.numpy(), labels)])["logits"],
                                         openset.collect(self.net, [(images, labels)])["logits"])
        # torch.nn.Sequential's forward() has one argument, `input`.
        for names in (("data", "label"), ("input", "labels")):
            again = openset.collect(self.net, [dict(zip(names, batch)) for batch in self.loader()], head="fc")
            for name, values in found.items():
                numpy.testing.assert_array_equal(again[name], values, name)
        with self.assertRaisesRegex(ValueError, "a batch has 'pixel_values', which the model doesn't take; .* takes input"):
            openset.collect(self.net, [dict(zip(("pixel_values", "labels"), batch)) for batch in self.loader()])
        with self.assertRaisesRegex(ValueError, "a batch has input, label; it needs 'data' and 'label', or 'labels'"):
            openset.collect(self.net, [dict(zip(("input", "label"), batch)) for batch in self.loader()])

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
        with self.assertRaisesRegex(ValueError, "'odin' is not a score of openset that needs no network"):
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


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class CollectTaskTest(unittest.TestCase):
    """Networks of any kind on the samples of a task: images u8 [8, 8, 3] of three classes."""

    @classmethod
    def setUpClass(cls):
        import torch
        cls.torch = torch
        cls.folder = tempfile.TemporaryDirectory()
        random = numpy.random.default_rng(0)
        parts = ""
        for part, n in (("train", 90), ("test", 90), ("few", 30)):
            label = numpy.arange(n) % 3
            images = random.integers(0, 80, (n, 8, 8, 3)).astype(numpy.uint8)
            images[numpy.arange(n), :, :, label] += 100
            numpy.savez(os.path.join(cls.folder.name, f"{part}.npz"), images=images, labels=label)
            parts += (f"part {{ name: '{part}' samples: {n} samples_per_class: {n // 3} "
                      f"npz {{ images {{ path: '{part}.npz' }} }} }} ")
        for kind, text in (("catalog", "name: 'tiny' class_name: ['r', 'g', 'b'] channels: 3 height: 8 width: 8 "
                            f"layout {{ {parts} }}"),
                           ("tasks", "name: 'tiny' data_set: 'tiny' split { known: [0, 2] unknown: 1 }")):
            os.makedirs(os.path.join(cls.folder.name, kind))
            with open(os.path.join(cls.folder.name, kind, "tiny.textproto"), "w", encoding="utf-8") as file:
                file.write(text)
        cls.where = dict(data=cls.folder.name, library=cls.folder.name)
        torch.manual_seed(1)
        cls.net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                      torch.nn.Linear(144, 2)).eval()
        cls.samples = openset.images("tiny", **cls.where)
        cls.batch = torch.stack([torch.from_numpy(sample.image.transpose(2, 0, 1).copy()) / 255
                                 for sample in cls.samples])
        with torch.inference_mode():
            cls.logits = cls.net(cls.batch).numpy()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def collect(self, model, **more):
        return openset.collect(model, task="tiny", **self.where, **more)

    def test_images(self):
        self.assertEqual(len(self.samples), 90)
        self.assertEqual([self.samples[i].label for i in (0, 1, 59, 60)], [0, 1, 1, -1])
        self.assertEqual((self.samples[60].group, self.samples[0].group), ("unknown", ""))
        self.assertEqual(self.samples[0].image.shape, (8, 8, 3))
        self.assertEqual(len(openset.images("tiny", part="fit", limit=5, **self.where)), 10)
        with self.assertRaisesRegex(ValueError, "neither 'test' nor 'fit' nor 'validation'"):
            openset.images("tiny", part="train", **self.where)
        with self.assertRaisesRegex(ValueError, "validation_per_class: say how many"):
            openset.images("tiny", part="validation", **self.where)
        left_out = openset.images("tiny", part="validation", validation_per_class=4, **self.where)
        self.assertEqual([sample.label for sample in left_out], [0, 1] * 4)
        found = self.collect(self.net, validation_per_class=4)
        self.assertEqual((len(found["validation"]["label"]), len(found["fit"]["label"])), (8, 52))
        # The names of the task's known classes go with the outputs, into a detector and its decisions.
        self.assertEqual(self.samples.arrays["class_names"].tolist(), ["r", "b"])
        for part in (found, found["fit"], found["validation"]):
            self.assertEqual(part["class_names"].tolist(), ["r", "b"])
        detector = openset.Detector.save(os.path.join(self.folder.name, "detector.npz"), found["validation"],
                                         score="max_logit", rule="known_accepted", target=0.75)
        self.assertEqual(detector.class_names, ["r", "b"])
        with self.assertRaisesRegex(ValueError, "its classes are b, r, and the detector's r, b"):
            detector.apply(logits=found["logits"], class_names=["b", "r"])
        other = self.torch.nn.Sequential(self.torch.nn.Flatten(), self.torch.nn.Linear(192, 3))
        self.assertNotIn("class_names", self.collect(other))  # its outputs are not the task's classes
        with self.assertRaisesRegex(ValueError, "no split 3"):
            openset.images("tiny", split=3, **self.where)

    def test_every_kind_of_network(self):
        torch = self.torch
        path = os.path.join(self.folder.name, "net")
        torch.jit.script(self.net).save(path + ".pt")
        torch.export.save(torch.export.export(self.net, (self.batch[:8],), dynamic_shapes=({0: torch.export.Dim("n")},)),
                          path + ".pt2")
        networks = {"module": self.net, "parallel": torch.nn.DataParallel(self.net), "script": path + ".pt",
                    "exported": path + ".pt2", "function": lambda batch: self.net(torch.from_numpy(batch)),
                    "object": lambda batch: {"logits": self.net(torch.from_numpy(batch))}}
        if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
            torch.onnx.export(self.net, (self.batch[:1],), path + ".onnx", input_names=["image"],
                              dynamic_axes={"image": {0: "n"}}, dynamo=False)
            networks["onnx"] = path + ".onnx"
        for name, network in networks.items():
            with self.subTest(name):
                found = self.collect(network)
                numpy.testing.assert_allclose(found["logits"], self.logits, atol=1e-5)
                self.assertEqual(found["fit"]["logits"].shape, (60, 2))
                self.assertEqual("features" in found, name in ("module", "parallel"))
        found = self.collect(self.net)
        self.assertEqual(found["features"].shape, (90, 144))
        numpy.testing.assert_array_equal(found["label"], [sample.label for sample in self.samples])

    def test_hugging_face_and_timm(self):
        if importlib.util.find_spec("transformers"):
            import transformers
            config = transformers.ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                            intermediate_size=16, image_size=8, patch_size=4, num_labels=2)
            network = transformers.ViTForImageClassification(config)
            found = self.collect(network)
            with self.torch.inference_mode():
                expected = network.eval()(self.batch).logits.numpy()
            numpy.testing.assert_allclose(found["logits"], expected, atol=1e-5)
            self.assertEqual(found["features"].shape, (90, 16))
            batches = [transformers.BatchFeature({"pixel_values": self.batch[at:at + 30],
                                                  "labels": self.torch.zeros(30, dtype=int)}) for at in (0, 30, 60)]
            again = openset.collect(network, batches)
            for name in ("logits", "features", "head_weight"):
                numpy.testing.assert_allclose(again[name], found[name], atol=1e-5)
        if importlib.util.find_spec("timm"):
            import timm
            network = timm.create_model("resnet10t", pretrained=False, num_classes=2)
            found = self.collect(network, size=32, mean=[0.5], std=[0.25])
            self.assertEqual(found["features"].shape, (90, 512))
            # timm crops 1 - 0.875 of a side; an image that the task takes as it is stored is normalised only.
            from openset import _collect
            with mock.patch("timm.create_model", lambda name, pretrained: network):
                made = _collect._Network("timm/resnet10t", None, None, {})
            size = network.default_cfg["input_size"][1:]
            image = numpy.random.default_rng(0).integers(0, 256, (*size, 3)).astype(numpy.uint8)
            mean, std = (numpy.array(network.default_cfg[name]) for name in ("mean", "std"))
            expected = ((image / 255 - mean) / std).transpose(2, 0, 1)
            stored, usual = (made.prepared(_collect.Sample(image, 0, "", "", kept)).numpy() for kept in (True, False))
            numpy.testing.assert_allclose(stored, expected, atol=1e-5)
            self.assertEqual(usual.shape, stored.shape)
            self.assertGreater(abs(usual - stored).max(), 0.1)

    def test_commits_to_a_store(self):
        store = os.path.join(self.folder.name, "results")
        said = io.StringIO()
        with self.assertWarnsRegex(openset.HintWarning, "not measured: knn on tiny.* there are 30"):
            with contextlib.redirect_stderr(said):
                self.collect(self.net, store=store, name="Mine", methods="mcp, max_logit,knn", limit=15)
        self.assertRegex(said.getvalue(), r"\[ *[0-9]+/[0-9]+\] evaluated mcp on tiny")
        self.assertRegex(said.getvalue(), "\n`openset report score_mine --store=.*results` shows the table\n$")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.collect(self.net, store=store, name="Mine", methods="mcp", limit=15, progress=False)
        self.assertNotIn("mcp on tiny", said.getvalue())
        frame = openset.open_store(store).records().to_frame()
        self.assertEqual(sorted(frame["method"]), ["max_logit", "mcp"])

    def test_the_part_to_fit_to_and_images_as_stored(self):
        task = os.path.join(self.folder.name, "fitted.textproto")
        with open(task, "w", encoding="utf-8") as file:
            file.write("name: 'fitted' data_set: 'tiny' test_only: true fit_part: 'train' split { known: [0, 2] } "
                       "unknown { group: 'g' data_set: 'tiny' class_id: 1 } "
                       "shifted { group: 's' data_set: 'tiny' part: 'few' as_stored: true }")
        samples = openset.images(task, **self.where)
        self.assertEqual([sample.as_stored for sample in samples], [False] * 90 + [True] * 20)
        store = os.path.join(self.folder.name, "fitted")
        for fit_part, rows in ((None, 60), ("few", 20)):
            # The part "few" is both fitted to and tested (shifted), which only this test does.
            found = openset.collect(self.net, task=task, fit_part=fit_part, mean=[0.5], std=[0.25], store=store,
                                    name=f"fit_{rows}", methods=["klm"], **self.where)
            self.assertEqual((len(found["label"]), len(found["fit"]["label"])), (110, rows))
            fit = found.pop("fit")
            expected = openset.evaluate(**found, score="klm", fit=fit)["auroc"]
            stored = openset.open_store(store).records("task=" + ("fitted_fit_few" if fit_part else "fitted"))
            self.assertEqual([record["auroc"] for record in stored], [expected])
        with self.assertRaisesRegex(ValueError, "fit_part: data set 'tiny': unknown part 'no'"):
            openset.images(task, part="fit", fit_part="no", **self.where)
        transform = lambda image: self.torch.from_numpy(image.transpose(2, 0, 1) / numpy.float32(255))
        hints = self.hints(lambda: openset.collect(self.net, task=task, transform=transform, **self.where))
        self.assertRegex(" ".join(hints), "takes 20 images as they are stored .*should not crop")

    def test_clusters(self):
        """Of the task's data set, for evaluate()."""
        with numpy.load(os.path.join(self.folder.name, "test.npz")) as arrays:
            features = numpy.random.default_rng(0).normal(size=(90, 4)).astype("f4")
            path = os.path.join(self.folder.name, "clustered.npz")
            numpy.savez(path, features=features, label=arrays["labels"], cluster=numpy.arange(90) // 6)
        task = os.path.join(self.folder.name, "clustered.textproto")
        with open(task, "w", encoding="utf-8") as file:
            file.write("name: 'clustered' data_set: 'features:clustered.npz' split { known: [0, 2] unknown: 1 }")
        found = openset.collect(lambda batch: batch[:, :2], task=task)
        self.assertEqual(sorted(set(numpy.bincount(found["cluster"])) - {0}), [6])
        self.assertNotIn("cluster", found["fit"])
        del found["fit"]
        intervals = [openset.evaluate(**{**found, **more}, metrics=["auroc"], ci=True, replicates=200).metrics["auroc"]
                     for more in ({}, {"cluster": None})]
        self.assertNotEqual(intervals[0]["low"], intervals[1]["low"])
        self.assertEqual(intervals[0]["value"], intervals[1]["value"])

    def test_errors(self):
        torch = self.torch
        with self.assertRaisesRegex(ValueError, "either a loader or a task"):
            openset.collect(self.net)
        with self.assertRaisesRegex(ValueError, "returned an array of shape"):
            self.collect(lambda batch: batch)
        with self.assertRaisesRegex(ValueError, "returned 1 rows of logits for 64 images"):
            self.collect(lambda batch: batch[:1, 0, 0, :2])
        with self.assertRaisesRegex(ValueError, "is neither 'timm/NAME' nor a file"):
            self.collect("network.pkl")
        with self.assertRaisesRegex(ValueError, "model: is a dict of weights: .*load_state_dict"):
            self.collect(self.net.state_dict())
        with self.assertRaisesRegex(ValueError, r"model: can't be called \(is int\)"):
            self.collect(3)
        with self.assertRaisesRegex(ValueError, "transform: returned None; it must return the network's input"):
            self.collect(self.net, transform=lambda image: None)
        with self.assertRaisesRegex(ValueError, "name: 'my net/ü' is not a valid name: use at most 80 letters"):
            self.collect(self.net, store="results", name="my net/ü")
        softmax = torch.nn.Sequential(self.net, torch.nn.Softmax(1))
        for run in (lambda: self.collect(softmax), lambda: openset.collect(softmax, [(self.batch, torch.zeros(len(self.batch)))])):
            with self.assertRaisesRegex(ValueError, "model: ends in a softmax: .*leave the softmax out"):
                run()
        with self.assertRaisesRegex(ValueError, "needs task"):
            openset.collect(self.net, [], store="results")
        for arguments, error in ((dict(std=[0.0]), "std: images are divided by it; it must be above 0"),
                                 (dict(mean=[0.5, 0.5]), "mean: has 2 values for [13] channel"),
                                 (dict(mean=[float("nan")]), "mean: must be finite"), (dict(size=0), "size: must be at"),
                                 (dict(features="pool"), "features: names an output of an ONNX network")):
            with self.assertRaisesRegex(ValueError, error):
                self.collect(self.net, **arguments)
        with self.assertRaisesRegex(ValueError, "returned NaN for sample 0, "):
            self.collect(lambda batch: self.net(torch.from_numpy(batch)) * float("nan"))
        with self.assertRaisesRegex(FileNotFoundError, "model: there is no file 'none.onnx'"):
            self.collect("none.onnx")
        path = os.path.join(self.folder.name, "fixed.pt2")
        torch.export.save(torch.export.export(self.net, (self.batch[:8],)), path)
        with self.assertRaisesRegex(ValueError, "takes no batch of shape .*export it with a free first dimension"):
            self.collect(path)

    def test_hints(self):
        hints = lambda *arguments, **more: self.hints(lambda: self.collect(*arguments, **more))
        self.assertEqual(hints(self.net, mean=[0.5], std=[0.25]), [])
        self.assertRegex(" ".join(hints(self.net, mean=[0.5])), "without std, the default is used")
        self.assertRegex(" ".join(hints(self.net, mean=[127.0], std=[60.0])), "divide those of 0 to 255 by 255")
        function = lambda batch: self.net(self.torch.from_numpy(batch))
        self.assertRegex(" ".join(hints(function, mean=[0.5], std=[0.25])), "the outputs have no features")

    def by_colour(self, rows):
        """A network whose output c is 20 times the mean of channel rows[c]; the class's own channel is the brightest."""
        torch = self.torch
        head = torch.nn.Linear(3, len(rows), bias=False)
        with torch.no_grad():
            head.weight.copy_(20 * torch.eye(3)[list(rows)])
        return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), head)

    def test_outputs_of_other_classes(self):
        """The known classes are r and b, the unknown one is g."""
        of = dict(mean=0.0, std=1.0)
        self.assertEqual(self.hints(lambda: self.collect(self.by_colour([0, 2]), **of)), [])
        swapped, = self.hints(lambda: self.collect(self.by_colour([2, 0]), **of))
        self.assertRegex(swapped, r"accuracy is 0.0 %, and 100.0 % with .*; or outputs=\[1, 0\], which takes them in the task's")
        wrong, = self.hints(lambda: self.collect(self.by_colour([2, 1, 0]), outputs=[0, 2], **of))
        self.assertIn("or outputs=[2, 0], which", wrong)
        expected = self.collect(self.by_colour([0, 2]), **of)
        for rows, outputs in (([2, 0], [1, 0]), ([0, 1, 2], [0, 2]), ([1, 2, 1, 0], [3, 1])):
            found = self.collect(self.by_colour(rows), outputs=outputs, **of)
            for part in (lambda arrays: arrays, lambda arrays: arrays["fit"]):
                for name in ("logits", "head_weight", "class_names"):
                    numpy.testing.assert_array_equal(part(found)[name], part(expected)[name])
        same, = self.hints(lambda: self.collect(self.by_colour([0, 0]), **of))
        self.assertIn("accuracy is 50.0 % on 60 known samples, no better than guessing among 2 classes", same)
        found = []
        more = self.hints(lambda: found.append(self.collect(self.by_colour([0, 2, 1]), **of)))[0]
        # Two classes, as the task has them, not three; in all parts, and without an argument for it.
        self.assertEqual([part["num_classes"].tolist() for part in (found[0], found[0]["fit"])], [[2], [2]])
        arrays = {name: values for name, values in found[0].items() if name != "fit"}
        measured = openset.evaluate(**arrays, score="extra_output", metrics=["accuracy", "auroc"])
        # g, the unknown class, has the last output: all right, and all unknown ones above all known ones.
        self.assertEqual((measured["accuracy"], measured["auroc"]), (1, 1))
        self.assertRegex(more, r"has 3 outputs, and the task 2 known classes: the last output counts as one for unknown")
        for rows, outputs, error in (([0, 1, 2, 1], None, r"model: has 4 outputs, and the task 2 known classes: choose .*outputs="),
                                     ([0], None, "model: has 1 output, and the task 2 known classes$"),
                                     ([0, 1, 2], [0], "outputs: must have a different index for each of the 2 known"),
                                     ([0, 1, 2], [2, 2], "outputs: must have a different index"),
                                     ([0, 1, 2], [0, 3], "outputs: 3 is no output of the network, which has 0 .. 2")):
            with self.assertRaisesRegex(ValueError, error):
                self.collect(self.by_colour(rows), outputs=outputs)
        with self.assertRaisesRegex(ValueError, "outputs: needs task"):
            openset.collect(self.net, [], outputs=[0])

    def test_external_images_of_another_form_are_left_out(self):
        """Their files, which aren't on this machine, are not needed."""
        with open(os.path.join(self.folder.name, "catalog", "large.textproto"), "w", encoding="utf-8") as file:
            parts = " ".join(f"part {{ name: '{part}' samples: 1 samples_per_class: 1 npz {{ images {{ path: 'absent.npz' }} }} }}"
                             for part in ("train", "test"))
            file.write(f"name: 'large' class_name: 'x' channels: 3 height: 9 width: 9 layout {{ {parts} }}")
        task = os.path.join(self.folder.name, "outside.textproto")
        with open(task, "w", encoding="utf-8") as file:
            file.write("name: 'outside' data_set: 'tiny' split { known: [0, 2] unknown: 1 } external { data_set: 'large' }")
        arguments = dict(task=task, validation_per_class=4, **self.where)
        found = []
        self.assertEqual(self.hints(lambda: found.append(openset.images(part="fit", **arguments))), [])
        hint, = self.hints(lambda: found.append(openset.images(part="validation", **arguments)))
        self.assertRegex(hint, "external validation images of 'large' are left out .* another form or size")
        self.assertEqual([len(samples) for samples in found], [52, 8])
        self.assertIn(hint, self.hints(lambda: found.append(openset.collect(self.net, **arguments))))
        self.assertEqual([len(found[-1][part]["label"]) for part in ("fit", "validation")], [52, 8])

    def hints(self, run):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run()
        return [str(warning.message) for warning in caught if issubclass(warning.category, openset.HintWarning)]

    @unittest.skipUnless(importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"), "no ONNX")
    def test_onnx_features(self):
        torch, net = self.torch, self.net

        class Both(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.fc = net[:3], net[3]

            def forward(self, batch):
                features = self.body(batch)
                return self.fc(features), features

        path = os.path.join(self.folder.name, "both.onnx")
        torch.onnx.export(Both(), (self.batch[:1],), path, input_names=["image"], output_names=["logits", "pool"],
                          dynamic_axes={"image": {0: "n"}}, dynamo=False)
        expected = self.collect(net)["features"]
        for arguments in ({}, {"features": "pool"}):
            numpy.testing.assert_allclose(self.collect(path, **arguments)["features"], expected, atol=1e-4)
        with self.assertRaisesRegex(ValueError, "no output 'flat'; its outputs: logits, pool"):
            self.collect(path, features="flat")
        torch.onnx.export(net, (self.batch[:8],), path, input_names=["image"], dynamo=False)
        with self.assertRaisesRegex(ValueError, "its input 'image' has the shape .*, and a batch .*a free first dimension"):
            self.collect(path)


PAGES = os.environ.get("OPENSET_PAGES") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")


@unittest.skipUnless(importlib.util.find_spec("torch") and os.path.isdir(PAGES), "no PyTorch, or no pages")
class PagesTest(unittest.TestCase):
    """Pastes the Python of the pages, block by block, into a folder with a task of images, and networks with random
    weights. //tools/testing:pages_test runs their commands."""

    def setUp(self):
        import torch
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        variables = mock.patch.dict(os.environ, {"OPENSET_LIBRARY": folder.name, "OPENSET_DATA": folder.name})
        variables.start()
        self.addCleanup(variables.stop)
        random = numpy.random.default_rng(0)
        parts = ""
        for part in ("train", "test"):
            label = numpy.arange(180) % 3
            images = random.integers(0, 80, (180, 32, 32, 3)).astype(numpy.uint8)
            images[numpy.arange(180), :, :, label] += 100
            numpy.savez(f"{part}.npz", images=images, labels=label)
            parts += f"part {{ name: '{part}' samples: 180 samples_per_class: 60 npz {{ images {{ path: '{part}.npz' }} }} }} "
        os.makedirs("catalog")
        with open("catalog/tiny.textproto", "w", encoding="utf-8") as file:
            file.write("name: 'tiny' class_name: ['r', 'g', 'b'] channels: 3 height: 32 width: 32 "
                       f"layout {{ {parts} }}")
        with open("my_task.textproto", "w", encoding="utf-8") as file:
            file.write("name: 'my_task' data_set: 'tiny' split { known: [0, 2] unknown: 1 }")
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 6, 3, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(2),
                                  torch.nn.Flatten(), torch.nn.Linear(24, 2)).eval()
        batch = torch.rand(60, 3, 32, 32)
        label = torch.arange(60) % 2
        loader = [(batch[at:at + 20], label[at:at + 20]) for at in (0, 20, 40)]
        with torch.inference_mode():
            features = net[:4](batch)
            logits = net[4](features)
        known = {"logits": logits.numpy(), "features": features.numpy(), "label": label.numpy()}
        open_label = numpy.where(numpy.arange(60) % 3 == 2, -1, label.numpy())
        group = numpy.where(open_label < 0, "far", "")
        self.names = {
            **known, "label": open_label, "group": group, "model": net, "net": net, "loader": loader, "images": batch,
            "train_logits": known["logits"], "train_label": known["label"], "train_features": known["features"],
            "train_loader": loader, "test_loader": loader, "cifar100_loader": loader, "svhn_loader": loader, "fit": known}

    def paste(self, page, replaced=()):
        with open(os.path.join(PAGES, page), encoding="utf-8") as file:
            text = file.read()
        for words, others in replaced:
            self.assertIn(words, text)
            text = text.replace(words, others)
        count = 0
        for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE):
            for code in textwrap.dedent(block).strip("\n").split("\n\n"):
                if re.match(r"openset |pip |# \S+\.textproto", code):
                    continue
                if "timm" in code and not importlib.util.find_spec("timm"):
                    continue
                if "transformers" in code and not importlib.util.find_spec("transformers"):
                    continue
                count += 1
                path = os.path.abspath(f"block_{count}.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(code)
                with self.subTest(code), warnings.catch_warnings():
                    warnings.simplefilter("ignore", openset.HintWarning)  # of random weights
                    exec(compile(code, path, "exec"), self.names)
        return count

    def test_bring_your_own(self):
        patches = []
        blocks = 3
        if importlib.util.find_spec("timm"):
            import timm
            made = timm.create_model
            patches.append(mock.patch("timm.create_model", lambda name, pretrained, num_classes=2: made(
                name, pretrained=False, num_classes=num_classes)))
            blocks += 2
        if importlib.util.find_spec("transformers"):
            import transformers
            config = transformers.ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                            intermediate_size=16, image_size=32, patch_size=8, num_labels=2)
            patches.append(mock.patch("transformers.AutoImageProcessor.from_pretrained", lambda name:
                                      transformers.ViTImageProcessor(size={"height": 32, "width": 32})))
            patches.append(mock.patch("transformers.AutoModelForImageClassification.from_pretrained", lambda name:
                                      transformers.ViTForImageClassification(config)))
            blocks += 1
        with contextlib.ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            self.assertEqual(self.paste("bring_your_own.md"), blocks)
        with numpy.load("net.npz") as arrays:
            self.assertEqual(arrays["logits"].shape, (60, 2))
        if importlib.util.find_spec("timm"):
            with numpy.load("clip.npz") as arrays:
                self.assertEqual((arrays["features"].shape, arrays["label"].shape), ((60, 512), (60,)))
        found = openset.open_store("results").records().to_frame()
        self.assertIn("vim", set(found["method"]))

    @unittest.skipUnless(importlib.util.find_spec("sklearn"), "no scikit-learn")
    def test_trainer(self):
        """The method, the program and the command of the page, with the study that the command names."""
        with open(os.path.join(PAGES, "trainer.md"), encoding="utf-8") as file:
            blocks = [textwrap.dedent(block).strip("\n") for block in
                      re.findall(r"(?:^    .*\n|^\n(?=    ))+", file.read(), re.MULTILINE)]
        method, program = blocks[:2]
        program, command = program.rsplit("\n\n", 1)
        self.assertRegex(method, "^name: \"forest\"")
        for name, text in (("forest.textproto", method), ("forest.py", program), (
                "study.textproto", "name: 'study' task: 'my_task.textproto' method: 'forest.textproto' seed: [0, 1] "
                "override { input { size: 32 channels: 3 } } metric { accuracy {} } metric { auroc {} }")):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        from openset import _program
        self.assertEqual(command, "openset run study.textproto --allow_commands")
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        with mock.patch.dict(os.environ, {"PATH": path}):
            _program.run([*command.split()[1:], "--store=results"])
        # The colours of the classes differ by more than the range of the noise.
        self.assertEqual(list(openset.open_store("results").records("method=forest").to_frame()["accuracy"]), [1, 1])

    def test_trainers_on_features(self):
        """docs/trainers/forest.py on a file of features, beside a head of openset's."""
        random = numpy.random.default_rng(0)
        label = numpy.arange(240) % 4
        numpy.savez("cloud.npz", label=label,
                    features=random.normal(size=(240, 5)) + 3 * (label[:, None] == numpy.arange(5)))
        for name in ("forest.py", "forest.textproto"):
            shutil.copy(os.path.join(PAGES, "trainers", name), name)
        with open("features.textproto", "w", encoding="utf-8") as file:
            file.write("name: 'features' task: 'cloud.textproto' method: ['forest.textproto', 'nearest_mean'] seed: [0, 1] "
                       "metric { accuracy {} } metric { auroc {} }")
        with open("cloud.textproto", "w", encoding="utf-8") as file:
            file.write("name: 'cloud' data_set: 'features:cloud.npz' split { known: [0, 1, 2] unknown: 3 }")
        from openset import _program
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        with mock.patch.dict(os.environ, {"PATH": path}):
            _program.run(["run", "features.textproto", "--allow_commands", "--store=results"])
        found = openset.open_store("results").records("experiment=features").to_frame()
        accuracy = found.groupby("method")["accuracy"].mean()
        # Points 3 sqrt(2) apart, of unit variance: about 4 % are nearer to another mean.
        self.assertGreater(accuracy["forest"], 0.85)
        self.assertGreater(accuracy["nearest_mean"], 0.85)

    def test_decisions(self):
        """The blocks of Python and of a table; commands are run by tools/testing/eval_test.py."""
        random = numpy.random.default_rng(0)

        def outputs(n):
            label = random.integers(-1, 3, n)
            features = (random.normal(size=(n, 8)) + 3 * (label[:, None] == numpy.arange(8))).astype("f4")
            return dict(label=label, features=features, logits=2 * features[:, :3])

        validation, fit, new = outputs(400), outputs(300), outputs(50)
        self.names.update(validation=validation, fit=fit, logits=new["logits"], features=new["features"])
        with open(os.path.join(PAGES, "decisions.md"), encoding="utf-8") as file:
            text = file.read()
        block = re.search(r"(?:^    .*\n)+", text[text.index("## In Python and C"):], re.MULTILINE)[0]
        exec(textwrap.dedent(block), self.names)
        decisions = self.names["decisions"]
        self.assertEqual(len(decisions.rejected), 50)
        self.assertTrue(0 < decisions.rejected.sum() < 50)
        table = textwrap.dedent(re.search(r"(?:^    .*\n)+", text[text.index("In a table:"):], re.MULTILINE)[0])
        self.assertTrue(table.startswith("unknown_score,correct"))
        rows = numpy.loadtxt(table.splitlines(), delimiter=",", skiprows=1)
        call = re.search(r"`(openset.evaluate\(unknown_score=score, correct=correct\))`", text)[1]
        found = eval(call, {**self.names, "openset": openset, "score": rows[:, 0], "correct": rows[:, 1]})
        self.assertEqual(found["prediction_rejection_ratio"], 1)  # the wrong answer has the larger score

    def test_python(self):
        """Every block, on a task with two groups of unknown samples and a study with an axis."""
        os.makedirs("tasks")
        with open("tasks/grouped.textproto", "w", encoding="utf-8") as file:
            file.write("name: 'grouped' data_set: 'tiny' split { known: [0, 2] unknown: 1 } "
                       "unknown { group: 'near' data_set: 'tiny' distance: NEAR } "
                       "unknown { group: 'far' data_set: 'tiny' part: 'train' distance: FAR }")
        with open("short.textproto", "w", encoding="utf-8") as file:
            file.write("name: 'short' task: 'grouped' method: ['softmax+laptop_colour', 'openauc+laptop_colour'] "
                       "seed: [0, 1] override { training { epochs: 1 } } metric { accuracy {} } metric { auroc {} }")
        study = openset.Study("short.textproto", store="results").run(progress=False)
        self.assertRegex(repr(study.plan()), r"4 trials\naction +all +in the store +to run")
        from openset import _program
        _program.run(["records", "export", "--bundle=cifar.zip", "--store=results"])
        names = {**self.names, "numpy": numpy, "a": self.names["logits"], "b": self.names["logits"][:, 0],
                 "train": self.names["fit"], "arrays": {name: self.names[name] for name in ("label", "logits", "features")}}
        self.names.update({**names, "unknown_score": names["b"]})
        self.assertEqual(self.paste("python.md", [
            ("quickstart", "short.textproto"), ("fashion_mnist_6_4", "grouped"), ("+laptop", "+laptop_colour"),
            ('axes={"training.epochs": [5, 10]}', 'axes={"training.epochs": [1, 2]}'), ("auroc>0.6", "auroc>=0"), ('head="fc"', 'head="4"'),
            ('near=["cifar100"], far=["svhn"]', 'near=["near"], far=["far"]')]), 12)
        store = self.names["store"]
        margins = store.evaluate(self.names["margin"], "method=softmax+laptop_colour and experiment=short")
        self.assertEqual(len(margins), 2)
        self.assertEqual({name for name in margins[0] if "auroc" in name or "accuracy" in name},
                         {"accuracy", "auroc", "near.auroc", "far.auroc", "mean_of_near.auroc", "mean_of_far.auroc"})
        # The method's own score, measured again on its outputs, gives the record's numbers.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", openset.HintWarning)
            again = store.evaluate("max_softmax", "method=softmax+laptop_colour and experiment=short")
        for row, before in zip(again, store.records("method=softmax+laptop_colour and experiment=short")):
            for name in ("auroc", "near.auroc", "far.auroc", "mean_of_far.auroc"):
                self.assertEqual(row[name], before[name], name)
        study = self.names["study"].run(progress=False)
        found = store.records("experiment=mine")
        self.assertEqual(len(found[:3]), 3)
        compared = openset.compare(found.to_frame(), metrics=["auroc"], group="far")
        methods = {f"{method}+laptop_colour, epochs {epochs}" for method in ("softmax", "openauc") for epochs in (1, 2)}
        self.assertEqual({row["a"] for row in compared.rows} | {row["b"] for row in compared.rows}, methods)
        tidy = openset.compare(study.table(), metrics=["auroc"], group="far")
        self.assertEqual(sorted(abs(row["mean_difference"]) for row in tidy.rows),
                         sorted(abs(row["mean_difference"]) for row in compared.rows))
        with self.assertRaisesRegex(ValueError, "^mine.textproto:[0-9]+: axis.0.: .*unknown field 'epochz'"):
            openset.Study(name="mine", task="grouped", methods=["softmax"], axes={"training.epochz": [1]}).plan()
        only = openset.Study(name="some", task="grouped", methods=["softmax", "openauc"], splits=[0],
                             axes={"loss.open_auc.lambda": {"openauc": [0.1, 1]}})
        self.assertIn('axis { path: "loss.open_auc.lambda" value: "0.1" value: "1" method: "openauc" }', only.text)
        self.assertEqual(len(only.plan()["trials"]), 3)

    def test_coming_from(self):
        self.assertEqual(self.paste("coming_from.md"), 6)
        table = self.names["evaluator"].eval_ood()
        self.assertEqual(list(table.index), ["cifar100", "nearood", "svhn", "farood"])
        self.assertEqual(list(table.columns), ["FPR@95", "AUROC", "AUPR_IN", "AUPR_OUT", "ACC"])
        self.assertEqual(len(self.names["unknown_score"]), 60)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
