
#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// One output that adds the features and 1, so that the score is minus the scaled logit.
TEST(Lts, ScalesTheLogitsByTheSquaredShareOfTheLarger) {
  const std::vector<float> weight(4, 1), bias = {1};
  const std::vector<float> features = {1, 4, 2, 3, -5, 4, 2, 0, -1, 0, 0, 0};
  const ScoreInput input = WithHead(FeatureRows(features, 4, {}, 1), weight, bias);
  const std::vector<double> half = MadeScore("lts { percentile: 50 }").Compute(input).value();
  EXPECT_NEAR(half[0], -11 * 100.0 / 49, 1e-13);
  EXPECT_EQ(half[1], -2);  // only the head sees the -5
  EXPECT_EQ(half[2], 0);
  EXPECT_NEAR(MadeScore("lts { percentile: 75 }").Compute(input).value()[1], -2 * 36.0 / 16, 1e-13);
}

}  // namespace
}  // namespace openset
