#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(DetectionError, IsTheLeastMeanOfBothErrorRates) {
  Samples samples;
  samples.unknown_score = {0.1, 0.2, 0.6, 0.5, 0.9};
  samples.label = {0, 0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0};
  // At 0.2: one of three known rejected, no unknown accepted.
  EXPECT_TRUE(Agrees(Compute("detection_error {}", RankedInput(samples.Input())), (1.0 / 3 + 0) / 2));
}

TEST(DetectionError, IsOneHalfForConstantAndReversedScores) {
  Samples samples;
  samples.label = {0, -1};
  samples.prediction = {0, 0};
  samples.unknown_score = {0.3, 0.3};
  EXPECT_TRUE(Agrees(Compute("detection_error {}", RankedInput(samples.Input())), 0.5));
  samples.unknown_score = {0.9, 0.3};
  EXPECT_TRUE(Agrees(Compute("detection_error {}", RankedInput(samples.Input())), 0.5));
  samples.unknown_score = {0.1, 0.3};
  EXPECT_TRUE(Agrees(Compute("detection_error {}", RankedInput(samples.Input())), 0.0));
}

}  // namespace
}  // namespace openset
