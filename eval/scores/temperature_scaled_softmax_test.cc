#include <cmath>
#include <limits>
#include <vector>

#include "core/testing/status_matchers.h"
#include "eval/testing/golden_scores.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Rows 3 to 23 of the golden logits, with the root of the slope by scipy.optimize.brentq.
const std::vector<int32_t> kLabels = {3, 0, 1, 1, 2, 1, 2, 1, 0, 4, 2, 0, 4, 2, 3, 0, 3, 4, 0, 2, 1};
constexpr double kTemperature = 3.163078307609238;

// The T with which two logits that differ by this much give the score -p, p = 1 / (1 + exp(-difference / T)).
double TemperatureOf(const MadeScore& score, float difference) {
  const std::vector<float> logits = {difference, 0};
  const double p = -score.Compute(LogitRows(logits, 2)).value()[0];
  return difference / std::log(p / (1 - p));
}

TEST(TemperatureScaledSoftmax, FitsTheTemperatureOfLeastNegativeLogLikelihood) {
  const GoldenScores golden;
  ScoreInput train = golden.Input();
  train.num_samples = 21;
  train.logits = train.logits.subspan(3 * 5);
  MadeScore score("temperature_scaled_softmax {}");
  ASSERT_TRUE(score.Fit(train, kLabels).ok());
  EXPECT_NEAR(TemperatureOf(score, 1), kTemperature, 1e-9);

  std::vector<float> doubled(train.logits.begin(), train.logits.end());
  for (float& logit : doubled) logit *= 2;
  train.logits = doubled;
  ASSERT_TRUE(score.Fit(train, kLabels).ok());
  EXPECT_NEAR(TemperatureOf(score, 2), 2 * kTemperature, 1e-9);
}

TEST(TemperatureScaledSoftmax, StopsAtTheLimitsWithoutAnOptimum) {
  const std::vector<float> logits = {3, 1, 0, 2};
  const ScoreInput train = LogitRows(logits, 2);
  MadeScore score("temperature_scaled_softmax {}");
  ASSERT_TRUE(score.Fit(train, {0, 1}).ok());  // all right: the sharper the better
  EXPECT_LT(TemperatureOf(score, 0.0625), 0.1);
  EXPECT_GE(TemperatureOf(score, 0.0625), 0.01);
  ASSERT_TRUE(score.Fit(train, {1, 0}).ok());  // all wrong: the flatter the better
  EXPECT_NEAR(TemperatureOf(score, 64), 100, 1e-6);
}

TEST(TemperatureScaledSoftmax, RefusesInvalidFitInput) {
  std::vector<float> logits = {3, 1, 0, 2};
  const ScoreInput train = LogitRows(logits, 2);
  MadeScore score("temperature_scaled_softmax {}");
  absl::Status status = score.Fit(train, {0});
  EXPECT_THAT(status, IsInvalidArgument("1 labels for 2 samples"));
  EXPECT_THAT(score.Fit(train, {0, 2}).message(), HasSubstr("label is 2 in row 1"));
  logits[3] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(score.Fit(train, {0, 1}).message(), HasSubstr("not finite in row 1, output 1"));
  EXPECT_THAT(score.Fit(ScoreInput{0, 2}, {}).message(), HasSubstr("no samples"));
}

TEST(TemperatureScaledSoftmax, ItsProbabilitiesAreThoseOfScaledLogits) {
  const std::vector<float> logits = {3, 1, 0, 2};
  const ScoreInput input = LogitRows(logits, 2);
  const std::optional<ProbabilityLogits> own =
      MadeScore("temperature_scaled_softmax { temperature: 4 }").Probabilities(input).value();
  EXPECT_EQ(own->logits, (std::vector<float>{0.75f, 0.25f, 0, 0.5f}));
  EXPECT_EQ(own->num_outputs, 2);
  EXPECT_EQ(MadeScore("temperature_scaled_softmax {}").Probabilities(input).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace openset
