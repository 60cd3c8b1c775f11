#include "core/testing/status_matchers.h"
#include "eval/scores/fits/extreme_values.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput Input(const std::vector<float>& logits, const std::vector<float>& features) {
  return FeatureRows(features, 2, logits, 2);
}

// Right are rows 0 to 3, with lengths 5, 1, 2, 13 and quotients 1, 3, 2.5, 2.
const std::vector<float> kLogits = {5, 0, 3, 0, 1, 5, 0, 26, 9, 0};
const std::vector<float> kFeatures = {3, 4, 1, 0, 0, 2, 5, 12, 1, 0};
const std::vector<int32_t> kLabels = {0, 0, 1, 1, 1};

TEST(PostMax, IsTheProbabilityOfTheLargestLogitOverTheLength) {
  MadeScore score("postmax {}");
  ASSERT_TRUE(score.Fit(Input(kLogits, kFeatures), kLabels).ok());
  const GeneralizedPareto expected = FitGeneralizedPareto({1, 3, 2.5, 2}).value();
  const std::vector<double> scores = score.Compute(Input({4, -1, 1, 10, -3, -1}, {0, 2, 3, 4, 1, 0})).value();
  EXPECT_DOUBLE_EQ(scores[0], -expected.Cdf(2));
  EXPECT_DOUBLE_EQ(scores[1], -expected.Cdf(2));
  EXPECT_EQ(scores[2], 0);
  // No features: as sure as can be.
  EXPECT_EQ(score.Compute(Input({1, 0}, {0, 0})).value()[0], -1);
}

TEST(PostMax, RefusesInvalidFitInput) {
  MadeScore score("postmax {}");
  EXPECT_THAT(score.Fit(Input(kLogits, kFeatures), {1, 1, 0, 0, 0}).message(),
              HasSubstr("the correctly classified training samples: a generalised Pareto"));
}

}  // namespace
}  // namespace openset
