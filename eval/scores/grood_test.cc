#include <algorithm>
#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Two classes of features around -2 and 2, with o between them.
struct Training {
  std::vector<float> features = {-3, -1, 1, 3};
  std::vector<float> logits = {1, 0, 1, 0, 0, 1, 0, 1};
  std::vector<int32_t> labels = {0, 0, 1, 1};
  ScoreInput Input() const { return FeatureRows(features, 1, logits, 2); }
};

// The gradient at x > 0.
double Gradient(double x) { return std::exp(-x) / (std::exp(-x) + std::exp(-std::abs(x - 2)) + std::exp(-x - 2)); }

TEST(Grood, IsTheSquaredDistanceToTheNearestGradient) {
  Training training;
  MadeScore grood("grood {}");
  ASSERT_TRUE(grood.Fit(training.Input(), training.labels).ok());
  Training test;
  test.features = {1, 0, 2.5f, -2.5f};
  const std::vector<double> scores = grood.Compute(test.Input()).value();
  EXPECT_NEAR(scores[0], 0, 1e-30);  // a training sample
  const double nearest = std::min(Gradient(1), Gradient(3));
  EXPECT_NEAR(scores[1], nearest * nearest, 1e-15);  // no gradient at o
  EXPECT_NEAR(scores[2], std::pow(Gradient(2.5) - Gradient(3), 2), 1e-15);
  EXPECT_NEAR(scores[3], scores[2], 1e-15);
  // Misclassified samples have means, and no gradients: the nearest one of 2.5 is -3's, which points away.
  training.logits[7] = -1;
  ASSERT_TRUE(grood.Fit(training.Input(), training.labels).ok());
  EXPECT_NEAR(grood.Compute(test.Input()).value()[2], std::pow(Gradient(2.5) + Gradient(3), 2), 1e-15);
}

TEST(Grood, RefusesAModelThatIsAlwaysWrong) {
  Training training;
  training.labels = {1, 1, 0, 0};
  EXPECT_THAT(MadeScore("grood {}").Fit(training.Input(), training.labels).message(),
              ::testing::HasSubstr("classified correctly"));
}

}  // namespace
}  // namespace openset
