#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Directions: (0.8, 0.6), (0.6, 0.8) of class 0 and (0.8, -0.6), (0.6, -0.8) of class 1.
struct Training {
  std::vector<float> features = {4, 3, 0.6f, 0.8f, 8, -6, 3, -4};
  std::vector<float> logits = {1, 0, 1, 0, 0, 1, 0, 1};
  std::vector<int32_t> labels = {0, 0, 1, 1};
  ScoreInput Input() const { return FeatureRows(features, 2, logits, 2); }
};

TEST(Ssd, IsTheDistanceOfDirections) {
  // Mean (0.7, 0), variances 0.01 and 0.5.
  MadeScore one("ssd {}");
  Training training;
  ASSERT_TRUE(one.Fit(training.Input(), {}).ok());
  Training test;
  test.features = {9, 0, 0, 2, 4, 3, 0, 0};
  const std::vector<double> scores = one.Compute(test.Input()).value();
  EXPECT_NEAR(scores[0], 0.3 * 0.3 / 0.01, 1e-5);
  EXPECT_NEAR(scores[1], 0.7 * 0.7 / 0.01 + 1 / 0.5, 1e-4);
  EXPECT_NEAR(scores[2], 1 + 0.36 / 0.5, 1e-6);
  EXPECT_NEAR(scores[3], 0.7 * 0.7 / 0.01, 1e-4);
}

TEST(Ssd, TakesTheNearestClass) {
  MadeScore classes("ssd { clusters: CLASSES }");
  Training training;
  ASSERT_TRUE(classes.Fit(training.Input(), training.labels).ok());
  // Each class varies along one direction, with its samples at 1 from its mean. From (0.6, 0.8) to the mean of the
  // other class, (0.7, -0.7), it is (-0.1 / 0.1, 1.5 / sqrt(0.5)), along (1, 0.1 / sqrt(0.5)), of which 0.7 / 1.02 is
  // left.
  const std::vector<double> scores = classes.Compute(training.Input()).value();
  const double to_other = std::pow(0.7 / 1.02, 2);
  const double expected[] = {1, to_other, 1, to_other};
  for (const int row : {0, 1, 2, 3}) EXPECT_NEAR(scores[row], expected[row], 1e-5) << row;
}

TEST(Ssd, RefusesAClassWithoutVariance) {
  Training training;
  training.features[4] = 6;
  training.features[5] = -8;
  EXPECT_THAT(MadeScore("ssd { clusters: CLASSES }").Fit(training.Input(), training.labels).message(),
              HasSubstr("class 1"));
}

}  // namespace
}  // namespace openset
