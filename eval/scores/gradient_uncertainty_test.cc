#include <cmath>

#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(GradientUncertainty, IsTheSquaredLengthOfTheGradient) {
  const std::vector<float> logits = {std::log(6.0f), std::log(3.0f), std::log(1.0f), 5, 5, 5};  // p = (6, 3, 1) / 10
  const std::vector<float> features = {3, -4, 1, 1};
  const ScoreInput input = FeatureRows(features, 2, logits, 3);
  const double sum = 0.8 * 0.8 + 0.1 * 0.1 + 0.7 * 0.7;
  EXPECT_NEAR(MadeScore("gradient_uncertainty { bias: true }").Compute(input).value()[0], -26 * sum, 1e-5);
  EXPECT_NEAR(MadeScore("gradient_uncertainty { bias: false }").Compute(input).value()[0], -25 * sum, 1e-5);
  EXPECT_NEAR(MadeScore("gradient_uncertainty { bias: true }").Compute(input).value()[1], 0, 1e-30);  // undecided
}

}  // namespace
}  // namespace openset
