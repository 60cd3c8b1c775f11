#include <algorithm>
#include <cmath>

#include "eval/testing/score_rows.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

double ScoreOf(const std::vector<float>& logits) {
  return MadeScore("class_anchor { anchor: 4 }").Compute(testing::LogitRows(logits, logits.size())).value()[0];
}

TEST(ClassAnchorScore, IsTheLeastWeightedDistance) {
  // (4, 3) is 3 from (4, 0) and sqrt(17) from (0, 4).
  const double other = std::sqrt(17), softmin = 1 / (1 + std::exp(3 - other));
  EXPECT_NEAR(ScoreOf({4, 3}), std::min(3 * (1 - softmin), other * softmin), 1e-12);
  EXPECT_NEAR(ScoreOf({4, 0}), 0, 1e-12);
  EXPECT_NEAR(ScoreOf({0, 0}), 2, 1e-12);
}

TEST(ClassAnchorScore, RefusesInfiniteLogits) {
  const std::vector<float> logits = {0, 1, INFINITY, 0};
  const ScoreInput input = testing::LogitRows(logits, 2);
  EXPECT_THAT(MadeScore("class_anchor { anchor: 4 }").Compute(input).status().message(), ::testing::HasSubstr("row 1"));
}

}  // namespace
}  // namespace openset
