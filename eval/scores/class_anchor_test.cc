#include <algorithm>
#include <cmath>

#include "eval/testing/score_rows.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

double ScoreOf(const std::vector<float>& logits) {
  return MadeScore("class_anchor { anchor: 4 centre: ANCHOR }").Compute(LogitRows(logits, logits.size())).value()[0];
}

TEST(ClassAnchorScore, IsTheLeastWeightedDistance) {
  // (4, 3) is 3 from (4, 0) and sqrt(17) from (0, 4).
  const double other = std::sqrt(17), softmin = 1 / (1 + std::exp(3 - other));
  EXPECT_NEAR(ScoreOf({4, 3}), std::min(3 * (1 - softmin), other * softmin), 1e-12);
  EXPECT_NEAR(ScoreOf({4, 0}), 0, 1e-12);
  EXPECT_NEAR(ScoreOf({0, 0}), 2, 1e-12);
}

// Class 0: (4, 0), (4, 2) are right, (0, 9) is not. Class 1: (0, 6).
TEST(ClassAnchorScore, CentresAreMeansOfWhatIsClassifiedCorrectly) {
  const std::vector<float> train = {4, 0, 4, 2, 0, 9, 0, 6};
  MadeScore score("class_anchor {}");
  ASSERT_TRUE(score.Fit(LogitRows(train, 2), {0, 0, 0, 1}).ok());
  const std::vector<float> logits = {4, 1, 4, 5};
  const double own = 4, other = std::sqrt(17);  // of (4, 5) from (4, 1) and (0, 6)
  const double softmin = 1 / (1 + std::exp(own - other));
  EXPECT_THAT(score.Compute(LogitRows(logits, 2)).value(),
              ::testing::ElementsAre(::testing::DoubleNear(0, 1e-12),
                                     ::testing::DoubleNear(std::min(own * (1 - softmin), other * softmin), 1e-12)));
}

TEST(ClassAnchorScore, NamesTheClassWithoutACorrectSample) {
  const std::vector<float> train = {4, 0, 4, 2};
  EXPECT_THAT(MadeScore("class_anchor {}").Fit(LogitRows(train, 2), {0, 1}).message(),
              ::testing::HasSubstr("no training sample of class 1 is classified correctly"));
}

TEST(ClassAnchorScore, RefusesInfiniteLogits) {
  const std::vector<float> logits = {0, 1, INFINITY, 0};
  const ScoreInput input = LogitRows(logits, 2);
  EXPECT_THAT(MadeScore("class_anchor { centre: ANCHOR }").Compute(input).status().message(),
              ::testing::HasSubstr("row 1"));
}

}  // namespace
}  // namespace openset
