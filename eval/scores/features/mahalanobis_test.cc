#include "eval/scores/features/mahalanobis.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// Class 0: (0, 0), (2, 0), (1, 2), (1, -2), mean (1, 0); class 2: the same moved by (10, 0). The common covariance is
// diagonal: (1 + 1) / 4 = 0.5 and (4 + 4) / 4 = 2; that of all, around (6, 0), 25.5 and 2.
struct Training {
  std::vector<float> features = {0, 0, 2, 0, 1, 2, 1, -2, 10, 0, 12, 0, 11, 2, 11, -2};
  std::vector<float> logits = std::vector<float>(8 * 3, 0.0f);
  std::vector<int32_t> labels = {0, 0, 0, 0, 2, 2, 2, 2};
  ScoreInput Input() const {
    ScoreInput input;
    input.num_samples = 8;
    input.num_outputs = 3;
    input.feature_dim = 2;
    input.logits = logits;
    input.features = features;
    return input;
  }
};

ScoreInput Features(const std::vector<float>& features) {
  ScoreInput input;
  input.num_samples = features.size() / 2;
  input.feature_dim = 2;
  input.features = features;
  return input;
}

TEST(Mahalanobis, MeasuresToTheNearestClass) {
  const Training training;
  Mahalanobis score;
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  const std::vector<double> scores = score.Compute(Features({1, 0, 3, 2, 8, 0})).value();
  EXPECT_NEAR(scores[0], 0, 1e-12);
  EXPECT_NEAR(scores[1], 2 * 2 / 0.5 + 2 * 2 / 2.0, 1e-12);
  EXPECT_NEAR(scores[2], 3 * 3 / 0.5, 1e-12);  // to (11, 0)
}

TEST(RelativeMahalanobis, TakesOffTheDistanceToAllTogether) {
  const Training training;
  RelativeMahalanobis score;
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  const std::vector<double> scores = score.Compute(Features({1, 0, 3, 2, 8, 0})).value();
  EXPECT_NEAR(scores[0], -5 * 5 / 25.5, 1e-12);
  EXPECT_NEAR(scores[1], 10 - (3 * 3 / 25.5 + 2 * 2 / 2.0), 1e-12);
  EXPECT_NEAR(scores[2], 18 - 2 * 2 / 25.5, 1e-12);
}

TEST(Mahalanobis, DoesNotDependOnTheFeaturesScale) {
  Training training;
  Mahalanobis score;
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  const double expected = score.Compute(Features({3, 2})).value()[0];
  for (float& value : training.features) value = 1024 * value;
  for (size_t i = 1; i < training.features.size(); i += 2) training.features[i] += 1e4f;
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  EXPECT_NEAR(score.Compute(Features({3 * 1024, 2 * 1024 + 1e4f})).value()[0], expected, 1e-9);
}

TEST(Mahalanobis, RefusesWhatItCannotBeFittedTo) {
  Training training;
  Mahalanobis score;
  EXPECT_EQ(score.Compute(Features({1, 0})).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(RelativeMahalanobis().Compute(Features({1, 0})).status().code(), absl::StatusCode::kFailedPrecondition);
  training.labels[3] = 3;
  EXPECT_THAT(score.Fit(training.Input(), training.labels).message(), HasSubstr("label is 3 in row 3"));
  training.labels[3] = 0;
  training.features.assign(16, 7.0f);
  EXPECT_THAT(score.Fit(training.Input(), training.labels).message(), HasSubstr("no variance"));
}

}  // namespace
}  // namespace openset
