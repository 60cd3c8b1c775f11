"""Tests the package together with other libraries: torch_test.py.

Tests that need PyTorch, torchmetrics or Lightning are skipped if it is not installed.
"""
import importlib
import importlib.util
import os
import sys
import tempfile
import unittest
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
