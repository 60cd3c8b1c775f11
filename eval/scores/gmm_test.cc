#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// One feature: class 0 is at 1 and 3, class 2 at 5, 5, 11 and 11.
struct Training {
  std::vector<float> features = {5, 1, 11, 3, 5, 11};
  std::vector<float> logits = std::vector<float>(18, 0.0f);
  std::vector<int32_t> labels = {2, 0, 2, 0, 2, 2};
  ScoreInput Input() const {
    return FeatureRows(features, 1, absl::MakeConstSpan(logits).first(3 * features.size()), 3);
  }
};

double Density(double x, double mean, double variance) {
  return std::exp(-0.5 * (x - mean) * (x - mean) / variance) / std::sqrt(2 * M_PI * variance);
}

TEST(Gmm, IsMinusTheLogDensity) {
  const Training training;
  for (const double ridge : {0.0, 0.5}) {
    MadeScore gmm(absl::StrCat("gmm { ridge: ", ridge, " }"));
    ASSERT_TRUE(gmm.Fit(training.Input(), training.labels).ok());
    Training test;
    test.features = {2, 6.5f};
    const std::vector<double> scores = gmm.Compute(test.Input()).value();
    for (const int row : {0, 1}) {
      const double x = test.features[row];
      EXPECT_NEAR(scores[row], -std::log(Density(x, 2, 1 + ridge) / 3 + Density(x, 8, 9 + ridge) * 2 / 3), 1e-12);
    }
  }
}

TEST(Gmm, RefusesAClassWithoutVariance) {
  Training training;
  training.features = {5, 1, 5, 3, 5, 5};
  EXPECT_THAT(MadeScore("gmm { ridge: 0 }").Fit(training.Input(), training.labels).message(),
              AllOf(HasSubstr("class 2"), HasSubstr("larger ridge")));
  EXPECT_TRUE(MadeScore("gmm { ridge: 1e-6 }").Fit(training.Input(), training.labels).ok());
}

}  // namespace
}  // namespace openset
