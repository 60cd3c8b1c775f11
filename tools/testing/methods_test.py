#!/usr/bin/env python3
"""Each packaged method, from its file to its record, on real Fashion-MNIST images."""
import hashlib
import json
import math
import os
import pathlib
import re
import struct
import sys

sys.path.insert(0, "tools/testing")
from program import ROOT, ProgramTest, main, shipped  # noqa: E402

# 600 training images of 16x16, four epochs.
TRAINING = """training {
    epochs: 4 batch_size: 32
    optimizer { learning_rate: 0.02 sgd { momentum: 0.9 nesterov: true } }
    schedule { cosine_restarts { cycle_epochs: 4 floor: 0 warmup_epochs: 0 stepping: EPOCH } }
  }"""
SPEC = f"""
name: "methods" task: "fashion_and_gradients" split: 0 seed: 0
override {{
  input {{ size: 16 channels: 1 mean: 0.286 std: 0.353 }}
  pretraining {{ {TRAINING} }}
  {TRAINING}
}}
# Small networks next to the classifier; small steps from a trained one.
axis {{ path: "open_set.confusing_images.width" value: "4" method: "arpl_cs" }}
axis {{ path: "training.optimizer.learning_rate" value: "0.001" method: "energy" }}
train_limit_per_class: 100
test_limit_per_class: 50
metric {{ accuracy {{}} }}
metric {{ auroc {{}} }}
metric {{ auroc_misclassification {{}} }}
"""
KNOWN_SAMPLES = 300

# What a method's training must achieve on any processor, with one seed:
#
#   learns   its accuracy is above 1/6 (as if it always predicted one class) by six standard errors of 300 test samples
#            (0.0215 each): above 0.296. Over six other seeds the means are 0.48 and more, with a standard deviation of
#            0.05.
#   ranks    its score separates wrong from right predictions better than a random one: the AUROC of its errors is above
#            0.5, and the mean of these AUROCs over all such methods is above 0.62. One training's AUROC moves by 0.045
#            from seed to seed, and more from processor to processor (acc_auc: 0.735 and 0.595), so no higher bound for
#            one method holds on each of them. The mean is 0.77 on the processor of the golden numbers, 3.3 standard
#            deviations of one training above its bound; random scores have 0.5 on average, half of them less.
#
# After so few steps, unknown classes can't be detected (AUROCs are about 1/2), so only golden numbers check the rest.
DO_NOT_LEARN = ("gcpl", "rpl", "rankfeat")  # rankfeat predicts from the changed logits
RANK = """acc_auc arpl_cs augmix augmix_no_jsd crl crl_unified_benchmark deep_ensemble deep_ensemble_expected_entropy
    deep_ensemble_variation_ratio edl entropy fmfp mcp noise_softmax openmix outlier_exposure
    outlier_exposure_unified_benchmark overlay_softmax sure temperature_scaling thresholded_softmax""".split()
# Scores of the same training, which have the same predictions.
LIKE_MCP = ("adascale_a", "energy_score", "entropy", "gen", "knn", "mahalanobis", "max_logit", "vim", "weiper_kld")


def processor():
    """The properties by which libraries choose their kernels: vendor, family and model, and LibTorch's CPU capability.

    "GenuineIntel 6/143 AVX512"; with --config=sse "... DEFAULT, oneDNN SSE41".
    """
    first, _ = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n", 1)
    info = dict(re.findall(r"^(.*\S)\s*: (.*)$", first, re.MULTILINE))
    flags = set(info["flags"].split())
    # LibTorch's own rule (aten/src/ATen/native/DispatchStub.cpp).
    if {"avx512f", "avx512vl", "avx512bw", "avx512dq", "fma"} <= flags:
        capability = "AVX512"
    else:
        capability = "AVX2" if {"avx2", "fma"} <= flags else "DEFAULT"
    capability = os.environ.get("ATEN_CPU_CAPABILITY", capability).upper()
    if lowered := os.environ.get("ONEDNN_MAX_CPU_ISA"):
        capability += f", oneDNN {lowered}"
    return f"{info['vendor_id']} {info['cpu family']}/{info['model']} {capability}"


class RandomStream:
    """The program's random numbers (core/random.h), with which the images of the golden numbers were drawn."""

    def __init__(self, name):
        self.state = struct.unpack("<4Q", hashlib.sha256(f"0/{name}".encode()).digest())

    def uniform(self, low, high):
        mask, (a, b, c, d) = 2**64 - 1, self.state
        total = a + d & mask
        bits = (total << 23 | total >> 41) + a & mask
        c, d = c ^ a, d ^ b
        self.state = a ^ d, b ^ c, c ^ (b << 17 & mask), (d << 45 | d >> 19) & mask
        return low + (high - low) * ((bits >> 11) * 2**-53)

    def normal(self):
        while True:
            u, v = self.uniform(-1, 1), self.uniform(-1, 1)
            if 0 < (s := u * u + v * v) < 1:
                return u * math.sqrt(-2 * math.log(s) / s)


class MethodsTest(ProgramTest):
    def write_images(self):
        """The external images, as write_external_images() describes them, with normal noise."""
        self.program.write_external_images()
        for part, n in (("train", 1000), ("test", 200)):
            draw, pixels = RandomStream(part), bytearray()
            for i in range(n):
                pixels.append(i % 2)
                for _ in range(3):
                    start, right, down = draw.uniform(40, 216), draw.uniform(-40, 40), draw.uniform(-40, 40)
                    pixels += bytes(int(min(max(start + (right * x + down * y) / 32 + 10 * draw.normal(), 0), 255))
                                    for y in range(32) for x in range(32))
            self.write(f"data/gradients/{part}.bin", bytes(pixels))

    # The numbers are bit-identical on one kind of processor and differ slightly between kinds. To add a processor, run
    # the test and copy its entry from the test's outputs (bazel-testlogs/.../test.outputs).
    def test_give_their_numbers(self):
        # Methods of features are in features_test.py.
        methods = sorted({path.stem for path in (ROOT / "experiments/methods").glob("*.textproto")} -
                         {"logistic_regression", "nearest_mean"})
        self.assertGreater(len(methods), 100)
        self.write_images()
        self.write("methods.textproto", f"{SPEC}method: {methods}")
        self.out("run methods.textproto --data=data")
        means = self.program.means("methods")
        self.assertEqual(sorted(means), methods)
        if folder := os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR"):
            entry = json.dumps({processor(): means}, indent=1, sort_keys=True)
            pathlib.Path(folder, "methods_golden.json").write_text(entry + "\n")
        golden = json.loads(shipped("tools/testing/testdata/methods_golden.json")).get(processor(), {})
        for method, numbers in golden.items():
            self.assertEqual(means[method], numbers, method)
        # These hold on every processor.
        for method in sorted(means.keys() - set(DO_NOT_LEARN)):
            self.assertGreater(means[method]["accuracy"], 1 / 6 + 6 * math.sqrt(1 / 6 * 5 / 6 / KNOWN_SAMPLES), method)
        aurocs = {method: means[method]["auroc_misclassification"] for method in RANK}
        self.assertGreater(min(aurocs.values()), 0.5, aurocs)
        self.assertGreater(sum(aurocs.values()) / len(aurocs), 0.62)
        for method in LIKE_MCP:
            self.assertEqual(means[method]["accuracy"], means["mcp"]["accuracy"], method)


if __name__ == "__main__":
    main()
