#include <cmath>

#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Gradnorm, IsTheLengthOfTheGradientByFiniteDifferences) {
  // L(W) = -sum_c log softmax(W x)_c at W = 0 plus logits z = (1, 0, -2): its change with the weight of class c and
  // feature d is that with z_c, times x_d.
  const std::vector<float> logits = {1, 0, -2};
  const std::vector<float> features = {2, -3};
  const auto loss = [](double a, double b, double c) {
    return 3 * std::log(std::exp(a) + std::exp(b) + std::exp(c)) - a - b - c;
  };
  const double h = 1e-5;
  const double sum = std::abs(loss(1 + h, 0, -2) - loss(1 - h, 0, -2)) + std::abs(loss(1, h, -2) - loss(1, -h, -2)) +
                     std::abs(loss(1, 0, -2 + h) - loss(1, 0, -2 - h));
  const ScoreInput input = FeatureRows(features, 2, logits, 3);
  EXPECT_NEAR(MadeScore("gradnorm {}").Compute(input).value()[0], -sum / (2 * h) * 5, 1e-8);
}

TEST(Gradnorm, IsZeroForAnUndecidedSample) {
  const std::vector<float> logits = {7, 7};
  const std::vector<float> features = {2};
  const ScoreInput input = FeatureRows(features, 1, logits, 2);
  EXPECT_EQ(MadeScore("gradnorm {}").Compute(input).value()[0], 0);
}

}  // namespace
}  // namespace openset
