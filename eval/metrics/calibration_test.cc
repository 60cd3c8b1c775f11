#include "eval/metrics/calibration.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

Samples WithLogits(std::vector<float> logits, std::vector<int32_t> label, std::vector<int32_t> prediction) {
  Samples samples;
  samples.logits = std::move(logits);
  samples.label = std::move(label);
  samples.prediction = std::move(prediction);
  samples.unknown_score.assign(samples.label.size(), 0);
  samples.num_outputs = samples.logits.size() / samples.label.size();
  samples.num_classes = samples.num_outputs;
  return samples;
}

TEST(Calibration, AgreesWithGoldenValues) {
  const GoldenCase golden = ReadGolden("scores.json", "")[0];
  const std::vector<double>& labels = golden.arrays.at("label");
  const std::vector<double>& nll = golden.arrays.at("nll");
  const std::vector<double>& brier = golden.arrays.at("brier");
  std::vector<float> logits;
  std::vector<int32_t> label;
  for (int row = 0; row < labels.size(); ++row) {
    const std::vector<double>& values = golden.arrays.at("logits/" + std::to_string(row));
    logits.insert(logits.end(), values.begin(), values.end());
    label.push_back(static_cast<int32_t>(labels[row]));
  }
  const Samples samples = WithLogits(logits, label, std::vector<int32_t>(label.size(), 0));
  RankedInput ranked(samples.Input());
  for (int row = 0; row < label.size(); ++row) {
    SCOPED_TRACE(row);
    std::vector<uint32_t> only(label.size());
    only[row] = 1;
    ranked.Reweight(only);
    EXPECT_TRUE(Agrees(Compute("nll {}", ranked), nll[row], 1e-12 * (1 + nll[row])));
    EXPECT_TRUE(Agrees(Compute("brier {}", ranked), brier[row]));
  }
  EXPECT_TRUE(Agrees(Compute("brier {}", RankedInput(samples.Input())),
                     std::accumulate(brier.begin(), brier.end(), 0.0) / brier.size()));
}

// The golden confidences are p of class 0 of two; a float logit holds ln(p / (1 - p)) to 1e-7.
TEST(Calibration, ExpectedCalibrationErrorAgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("unknown_detection.json", "ece")) {
    SCOPED_TRACE(golden.name);
    if (golden.name == "edges_on_bin_boundary") continue;  // needs confidences that are exact: below
    std::vector<float> logits;
    std::vector<int32_t> label;
    for (const double p : golden.arrays.at("confidence")) {
      logits.push_back(static_cast<float>(std::log(p)));
      logits.push_back(static_cast<float>(std::log1p(-p)));
    }
    for (const double correct : golden.arrays.at("correct")) label.push_back(correct == 1 ? 0 : 1);
    const Samples samples = WithLogits(logits, label, std::vector<int32_t>(label.size(), 0));
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("ece {}", ranked), golden.at("expected/ece15"), 1e-6));
    EXPECT_TRUE(
        Agrees(Compute("ece { bins: 15 edges: LEFT_CLOSED }", ranked), golden.at("expected/ece15_left_closed"), 1e-6));
  }
}

TEST(Calibration, BinEdgesBelongToTheSideOfTheRule) {
  // Confidences of exactly 1/2 (right), 1/4 (wrong), 1 (right) and 0 (wrong: in the other class's favour).
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  const Samples samples =
      WithLogits({0, 0, kMinusInfinity, kMinusInfinity, 0, 0, 0, 0, 1, kMinusInfinity, kMinusInfinity, kMinusInfinity,
                  kMinusInfinity, 1, kMinusInfinity, kMinusInfinity},
                 {0, 1, 0, 1}, {0, 0, 0, 0});
  const RankedInput ranked(samples.Input());
  const std::vector<CalibrationBin> right = CalibrationBins(ranked, 2);
  ASSERT_EQ(right.size(), 2);
  EXPECT_EQ(right[0].samples, 2);  // 1/4, 1/2
  EXPECT_EQ(right[0].confidence, (0.5 + 0.25) / 2);
  EXPECT_EQ(right[0].accuracy, 0.5);
  EXPECT_EQ(right[1].samples, 1);
  const std::vector<CalibrationBin> left = CalibrationBins(ranked, 2, EceSpec::LEFT_CLOSED);
  EXPECT_EQ(left[0].samples, 2);  // 0, 1/4
  EXPECT_EQ(left[1].samples, 2);
  EXPECT_TRUE(Agrees(Compute("ece { bins: 2 }", ranked), (std::abs(1 - 0.75) + std::abs(1 - 1.0)) / 4));
  EXPECT_TRUE(Agrees(Compute("ece { bins: 2 edges: LEFT_CLOSED }", ranked), (0.25 + std::abs(2 - 1.5)) / 4));
}

// The confidence of a prediction of the unknown is the probability of what lies beyond the classes: 1/2 here, and
// wrong.
TEST(Calibration, APredictionOfTheUnknownHasItsProbability) {
  Samples samples;
  samples.num_classes = 2;
  samples.label = {0, 1};
  samples.prediction = {2, 1};
  samples.unknown_score = {0, 0};
  samples.logits = {0, 0, std::log(2.0f), 0, 0, std::log(2.0f)};
  samples.num_outputs = 3;
  const RankedInput ranked(samples.Input());
  // |0 - 0.5| / 2 + |1 - 0.25| / 2
  EXPECT_TRUE(Agrees(Compute("ece {}", ranked), (0.5 + 0.75) / 2, 1e-7));
}

TEST(Calibration, IsAbsentWithItsReason) {
  Samples samples = WithLogits({0, 1}, {0}, {0});
  samples.logits[0] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(Compute("nll {}", RankedInput(samples.Input())).absent_reason, "a known sample's class has probability 0");
  EXPECT_TRUE(Agrees(Compute("brier {}", RankedInput(samples.Input())), 2.0));
  samples.logits.clear();
  EXPECT_EQ(Compute("nll {}", RankedInput(samples.Input())).absent_reason, "no logits");
  EXPECT_EQ(Compute("brier {}", RankedInput(samples.Input())).absent_reason, "no logits");
  EXPECT_EQ(Compute("ece {}", RankedInput(samples.Input())).absent_reason, "no logits");
}

TEST(Calibration, MaximumAndAdaptiveErrorAgreeWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("selective.json", "cases")) {
    if (golden.numbers.count("mce") == 0) continue;  // equal confidences
    SCOPED_TRACE(golden.name);
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("ece {}", ranked), golden.at("ece")));
    EXPECT_TRUE(Agrees(Compute("mce {}", ranked), golden.at("mce")));
    EXPECT_TRUE(Agrees(Compute("adaptive_ece {}", ranked), golden.at("adaptive_ece")));
  }
}

// Confidences 1/2, 1/2, 1 (of -inf); right, wrong, right: two of the first bin are right half of the time.
TEST(AdaptiveCalibrationError, SharesTiesOut) {
  Samples samples;
  samples.num_classes = samples.num_outputs = 2;
  samples.label = {0, 1, 0};
  samples.prediction = {0, 0, 0};
  samples.unknown_score = {0, 0, 0};
  samples.logits = {0, 0, 0, 0, 0, -std::numeric_limits<float>::infinity()};
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(Compute("adaptive_ece { bins: 1 }", ranked).value, 0);
  EXPECT_EQ(Compute("adaptive_ece { bins: 3 }", ranked).value, 0);
  EXPECT_EQ(Compute("adaptive_ece { bins: 100 }", ranked).value, 0);
  samples.label[2] = 1;
  EXPECT_NEAR(*Compute("adaptive_ece { bins: 2 }", RankedInput(samples.Input())).value, 1.0 / 3, 1e-15);
  EXPECT_EQ(Compute("mce { bins: 2 }", RankedInput(samples.Input())).value, 1);
}

}  // namespace
}  // namespace openset
