#!/usr/bin/env python3
"""The accuracy of the complete flow on real Fashion-MNIST images, over seeds."""
import sys

sys.path.insert(0, "tools/testing")
from program import ProgramTest, main  # noqa: E402

# 1,800 training images of split 0, four epochs.
SPEC = """
name: "study" task: "fashion_mnist_6_4" method: "softmax" split: 0 seed: [0, 1, 2, 3]
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training {
    epochs: 4 batch_size: 50 optimizer { learning_rate: 0.02 sgd { momentum: 0.9 } }
    schedule { cosine_restarts { cycle_epochs: 4 } }
  }
}
train_limit_per_class: 300 test_limit_per_class: 100
metric { accuracy {} } metric { auroc {} } metric { openauc {} }
"""


class AccuracyTest(ProgramTest):
    # Trivial baselines: always predicting one class has accuracy 1/6; a score without information has AUROC 1/2 and,
    # with this accuracy, OpenAUC 0.37. Centres are the means over 12 other seeds (10 to 21), margins are six standard
    # errors of a mean of 4 (0.0081, 0.0191 and 0.0138 over 2, the standard deviations over those seeds): a kind of CPU
    # that gives other bits fails with a chance below 1e-3 (Student's t, 11 degrees of freedom, the centre's own error
    # included). A random score has a mean AUROC of 0.500 with a standard error of 0.009, of which 12 % lie within that
    # margin, and an OpenAUC of 0.374 with 0.007, eleven of them below the other one.
    def test_softmax_on_fashion_mnist(self):
        self.write("study.textproto", SPEC)
        self.out("run study.textproto")
        self.assertEqual({cell["n"] for cell in self.program.report("study")["cells"]}, {4})
        means = self.program.means("study")["softmax"]
        for metric, centre, margin in (("accuracy", 0.747, 0.025), ("auroc", 0.569, 0.058), ("openauc", 0.495, 0.042)):
            self.assertAlmostEqual(means[metric], centre, delta=margin, msg=metric)


if __name__ == "__main__":
    main()
