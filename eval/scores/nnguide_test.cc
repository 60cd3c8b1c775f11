#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// One output, so that the energy of a sample is its logit.
ScoreInput InputOf(const std::vector<float>& features, const std::vector<float>& logits) {
  return FeatureRows(features, 2, logits, 1);
}

TEST(Nnguide, IsEnergyTimesTheMeanOfTheNearest) {
  // Seen from (3, 0): 4 cos 0, 3 cos 90 degrees, 2 cos 45 degrees; zeros have no direction.
  const std::vector<float> features = {2, 0, 0, 1, 5, 5, 0, 0};
  const std::vector<float> logits = {4, 3, 2, 9};
  MadeScore nnguide("nnguide { k: 2 share: 1 }");
  ASSERT_TRUE(nnguide.Fit(InputOf(features, logits), {}).ok());
  const std::vector<float> test = {3, 0};
  const std::vector<float> test_logit = {10};
  EXPECT_NEAR(nnguide.Compute(InputOf(test, test_logit)).value()[0], -10 * (4 + std::sqrt(2)) / 2, 1e-12);
}

TEST(Nnguide, KeepsAShareButAtLeastK) {
  const std::vector<float> features(200, 1);  // 100 samples, all alike
  std::vector<float> logits(100, 1);
  MadeScore nnguide("nnguide { k: 3 share: 0.01 }");
  ASSERT_TRUE(nnguide.Fit(InputOf(features, logits), {}).ok());
  const std::vector<float> test = {1, 1};
  const std::vector<float> test_logit = {2};
  EXPECT_NEAR(nnguide.Compute(InputOf(test, test_logit)).value()[0], -2, 1e-12);
  EXPECT_THAT(MadeScore("nnguide { k: 101 share: 1 }").Fit(InputOf(features, logits), {}).message(),
              HasSubstr("there are 100"));
}

}  // namespace
}  // namespace openset
