#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput Input(const std::vector<float>& logits, const std::vector<float>& features) {
  ScoreInput input = LogitRows(logits, 3);
  input.feature_dim = 2;
  input.features = features;
  return input;
}

// Class 0: (1, 0) and (3, 2) are right, (9, 9) is not; class 1: (0, 4). The third output is no label.
const std::vector<float> kLogits = {1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 1, 0};
const std::vector<float> kFeatures = {1, 0, 3, 2, 9, 9, 0, 4};
const std::vector<int32_t> kLabels = {0, 0, 0, 1};

TEST(She, IsTheProductWithThePredictedClassesPattern) {
  MadeScore score("she {}");
  ASSERT_TRUE(score.Fit(Input(kLogits, kFeatures), kLabels).ok());
  const std::vector<double> scores =
      score.Compute(Input({5, 1, 0, 1, 5, 0, 1, 1, 0, 0, 1, 9}, {2, 3, 2, 3, 2, 3, 2, 3})).value();
  EXPECT_EQ(scores[0], -(2 * 2 + 3 * 1));  // the pattern (2, 1)
  EXPECT_EQ(scores[1], -3 * 4);            // the pattern (0, 4)
  EXPECT_EQ(scores[2], -12);               // undecided: the better of both
  EXPECT_EQ(scores[3], -12);               // the third output is skipped
}

// As the released code: argmax.
TEST(She, TakesTheFirstOfEqualLogitsOnRequest) {
  MadeScore score("she { tied: FIRST }");
  ASSERT_TRUE(score.Fit(Input(kLogits, kFeatures), kLabels).ok());
  const std::vector<double> scores =
      score.Compute(Input({5, 1, 0, 1, 5, 0, 1, 1, 0, 1, 1, 9}, {2, 3, 2, 3, 2, 3, 2, 3})).value();
  EXPECT_EQ(scores, (std::vector<double>{-7, -12, -7, -7}));
}

TEST(She, RefusesInvalidFitInput) {
  MadeScore score("she {}");
  EXPECT_THAT(score.Fit(Input(kLogits, kFeatures), {0, 0, 2, 1}).message(),
              HasSubstr("no training sample of class 2 is classified correctly"));
  EXPECT_THAT(score.Fit(Input(kLogits, {}), kLabels).message(), HasSubstr("needs features"));
  ASSERT_TRUE(score.Fit(Input(kLogits, kFeatures), kLabels).ok());
  ScoreInput other = Input(kLogits, kFeatures);
  other.num_outputs = 4;
  other.num_samples = 3;
  other.features = other.features.first(6);
  EXPECT_THAT(score.Compute(other).status().message(), HasSubstr("fitted to 3 outputs; these have 4"));
}

}  // namespace
}  // namespace openset
