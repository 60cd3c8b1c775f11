
#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Class 0: (0, 0), (2, 0), (1, 2), (1, -2), mean (1, 0); class 2: the same moved by (10, 0). The common covariance is
// diagonal: (1 + 1) / 4 = 0.5 and (4 + 4) / 4 = 2; the covariance of all, around (6, 0), 25.5 and 2.
struct Training {
  std::vector<float> features = {0, 0, 2, 0, 1, 2, 1, -2, 10, 0, 12, 0, 11, 2, 11, -2};
  std::vector<float> logits = std::vector<float>(8 * 3, 0.0f);
  std::vector<int32_t> labels = {0, 0, 0, 0, 2, 2, 2, 2};
  ScoreInput Input() const { return FeatureRows(features, 2, logits, 3); }
};

ScoreInput Features(const std::vector<float>& features) { return FeatureRows(features, 2); }

TEST(Mahalanobis, MeasuresToTheNearestClass) {
  const Training training;
  MadeScore score("mahalanobis {}");
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  const std::vector<double> scores = score.Compute(Features({1, 0, 3, 2, 8, 0})).value();
  EXPECT_NEAR(scores[0], 0, 1e-12);
  EXPECT_NEAR(scores[1], 2 * 2 / 0.5 + 2 * 2 / 2.0, 1e-12);
  EXPECT_NEAR(scores[2], 3 * 3 / 0.5, 1e-12);  // to (11, 0)
}

TEST(RelativeMahalanobis, SubtractsTheDistanceToAllSamples) {
  const Training training;
  MadeScore score("relative_mahalanobis {}");
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  const std::vector<double> scores = score.Compute(Features({1, 0, 3, 2, 8, 0})).value();
  EXPECT_NEAR(scores[0], -5 * 5 / 25.5, 1e-12);
  EXPECT_NEAR(scores[1], 10 - (3 * 3 / 25.5 + 2 * 2 / 2.0), 1e-12);
  EXPECT_NEAR(scores[2], 18 - 2 * 2 / 25.5, 1e-12);
}

TEST(Mahalanobis, DoesNotDependOnTheFeaturesScale) {
  Training training;
  MadeScore score("mahalanobis {}");
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  const double expected = score.Compute(Features({3, 2})).value()[0];
  for (float& value : training.features) value = 1024 * value;
  for (size_t i = 1; i < training.features.size(); i += 2) training.features[i] += 1e4f;
  ASSERT_TRUE(score.Fit(training.Input(), training.labels).ok());
  EXPECT_NEAR(score.Compute(Features({3 * 1024, 2 * 1024 + 1e4f})).value()[0], expected, 1e-9);
}

// Of length 1 the training samples are two classes on the unit circle; other lengths of any sample change nothing, and
// the distances are the scaled samples' distances.
TEST(MahalanobisPlusPlus, NormalisesFeatures) {
  Training unit, longer;
  unit.features = {0.6, 0.8, 0.8, 0.6, 1, 0, 0.96, 0.28, -1, 0, -0.8, 0.6, -0.6, 0.8, -0.96, 0.28};
  longer.features = unit.features;
  for (int row = 0; row < 8; ++row) {
    for (int d = 0; d < 2; ++d) longer.features[2 * row + d] *= static_cast<float>(1 << row);
  }
  for (const bool relative : {false, true}) {
    MadeScore plain(relative ? "relative_mahalanobis {}" : "mahalanobis {}");
    MadeScore plus(relative ? "relative_mahalanobis_plus_plus {}" : "mahalanobis_plus_plus {}");
    ASSERT_TRUE(plain.Fit(unit.Input(), unit.labels).ok());
    ASSERT_TRUE(plus.Fit(longer.Input(), longer.labels).ok());
    const std::vector<double> expected = plain.Compute(Features({0, 1, -0.6, -0.8})).value();
    const std::vector<double> scores = plus.Compute(Features({0, 32, -3, -4})).value();
    for (int row = 0; row < 2; ++row) EXPECT_NEAR(scores[row], expected[row], 1e-5);  // 0.6 is no float
  }
}

TEST(Mahalanobis, RefusesInvalidFitInput) {
  Training training;
  MadeScore score("mahalanobis {}");
  training.labels[3] = 3;
  EXPECT_THAT(score.Fit(training.Input(), training.labels).message(), HasSubstr("label is 3 in row 3"));
  training.labels[3] = 0;
  training.features.assign(16, 7.0f);
  EXPECT_THAT(score.Fit(training.Input(), training.labels).message(), HasSubstr("no variance"));
}

}  // namespace
}  // namespace openset
