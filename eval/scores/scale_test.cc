#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// One output that adds the features, so that the score is minus the logit.
ScoreInput InputOf(const std::vector<float>& features, const std::vector<float>& weight) {
  return WithHead(FeatureRows(features, 4, {}, 1), weight);
}

TEST(Scale, ScalesAllFeaturesByTheShareOfTheLarger) {
  const std::vector<float> weight(4, 1);
  const std::vector<float> features = {1, 4, 2, 3, 0, 0, 0, 0};
  const std::vector<double> half = MadeScore("scale { percentile: 50 }").Compute(InputOf(features, weight)).value();
  EXPECT_NEAR(half[0], -10 * std::exp(10.0 / 7), 1e-12);
  EXPECT_EQ(half[1], 0);
  EXPECT_NEAR(MadeScore("scale { percentile: 0 }").Compute(InputOf(features, weight)).value()[0], -10 * std::exp(1),
              1e-12);
}

TEST(Scale, RefusesNegativeFeatures) {
  const std::vector<float> weight(4, 1);
  const std::vector<float> features = {1, 4, 2, 3, -1, -2, -3, -4};
  EXPECT_THAT(MadeScore("scale { percentile: 85 }").Compute(InputOf(features, weight)).status().message(),
              HasSubstr("row 1"));
}

}  // namespace
}  // namespace openset
