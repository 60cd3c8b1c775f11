#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/scores/fits/extreme_values.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput Input(const std::vector<float>& logits, const std::vector<float>& features) {
  return FeatureRows(features, 3, logits, 3);
}

// Class 0: (0, 0, 7), (2, 4, 7), mean (1, 2, 7), deviations sqrt(2), 2 sqrt(2), none. Class 2: (10, 1, 1), (12, 1, 2),
// (14, 1, 3), mean (12, 1, 2), deviations 2, none, 1. The last row is wrong; output 1 has no samples.
const std::vector<float> kLogits = {4, 0, 0, 4, 0, 0, 0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 9};
const std::vector<float> kFeatures = {0, 0, 7, 2, 4, 7, 10, 1, 1, 12, 1, 2, 14, 1, 3, 50, 50, 50};
const std::vector<int32_t> kLabels = {0, 0, 2, 2, 2, 0};

TEST(Ghost, DividesTheLogitByTheDeviationsFromItsClass) {
  MadeScore score("ghost { value: QUOTIENT }");
  ASSERT_TRUE(score.Fit(Input(kLogits, kFeatures), kLabels).ok());
  const std::vector<double> scores =
      score.Compute(Input({6, 9, 1, -1, 0, 5, 2, 0, 2}, {3, 6, 0, 16, 100, 1, 12, 1, 4})).value();
  EXPECT_NEAR(scores[0], -6 / (2 / std::sqrt(2) + 4 / (2 * std::sqrt(2))), 1e-12);  // output 1 is skipped
  EXPECT_NEAR(scores[1], -5 / (4 / 2.0 + 1), 1e-12);
  EXPECT_NEAR(scores[2], -2 / 2.0, 1e-12);  // class 2; class 0 gives -2 / (11 / sqrt(2) + ...)
  // At the mean itself.
  EXPECT_LT(score.Compute(Input({0, 0, 1}, {12, 1, 2})).value()[0], -1e15);
}

// gamma of the training samples of class 0: 4 / sqrt(2) twice; of class 2: 1.5, at its mean 3 / 2^-52, 1.5.
TEST(Ghost, HasProbabilitiesByClass) {
  std::vector<float> features = kFeatures;
  features[9] = 13;  // 13: mean 37/3
  MadeScore quotient("ghost { value: QUOTIENT }"), probability("ghost { value: PROBABILITY }");
  const std::vector<float> train = {4, 0, 0, 5, 0, 0, 0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 9};
  ASSERT_TRUE(quotient.Fit(Input(train, features), kLabels).ok());
  ASSERT_TRUE(probability.Fit(Input(train, features), kLabels).ok());
  const std::vector<double> gamma = quotient.Compute(Input(train, features)).value();
  const GeneralizedPareto of_class_2 = FitGeneralizedPareto({-gamma[2], -gamma[3], -gamma[4]}).value();
  const std::vector<double> scores = probability.Compute(Input(train, features)).value();
  for (int row = 2; row < 6; ++row) EXPECT_DOUBLE_EQ(scores[row], -of_class_2.Cdf(-gamma[row]));
}

TEST(Ghost, RefusesInvalidFitInput) {
  MadeScore score("ghost { value: QUOTIENT }");
  const std::vector<float> row = {1, 0, 0};  // ScoreInput refers to it
  EXPECT_THAT(score.Fit(Input(kLogits, kFeatures), {0, 1, 2, 2, 2, 0}).message(),
              HasSubstr("class 0 has 1 correctly classified training samples; ghost needs two"));
  ASSERT_TRUE(score.Fit(Input(kLogits, kFeatures), kLabels).ok());
  ScoreInput other = Input(row, row);
  other.num_outputs = 1;
  other.logits = other.logits.first(1);
  EXPECT_THAT(score.Compute(other).status().message(), HasSubstr("fitted to 3 outputs; these have 1"));
}

}  // namespace
}  // namespace openset
