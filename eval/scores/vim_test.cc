#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// The head z = (x0 + 1, x1 - 2) is 0 at u = (-1, 2, 0). Around it the training features are (+-3, 0, 0), (0, +-2, 0),
// (0, 0, +-1), so the main directions are the axes in order.
struct Training {
  std::vector<float> features = {2, 2, 0, -4, 2, 0, -1, 4, 0, -1, 0, 0, -1, 2, 1, -1, 2, -1};
  std::vector<float> logits = {3, 0, -3, 0, 0, 2, 0, -2, 0, 0, 0, 0};
  std::vector<float> weight = {1, 0, 0, 0, 1, 0};
  std::vector<float> bias = {1, -2};
  ScoreInput Input() const { return WithHead(FeatureRows(features, 3, logits, 2), weight, bias); }
};

TEST(Vim, ScalesTheResidual) {
  const Training training;
  const std::vector<float> features = {4, 5, 7}, logits = {5, 3};
  const ScoreInput input = FeatureRows(features, 3, logits, 2);
  const double energy = -std::log(std::exp(5) + std::exp(3));
  MadeScore two("vim { principal_dim: 2 }");  // misses the third axis
  ASSERT_TRUE(two.Fit(training.Input(), {}).ok());
  EXPECT_NEAR(two.Compute(input).value()[0], (3 + 0 + 2 + 0 + 0 + 0) / (1 + 1.0) * 7 + energy, 1e-11);
  MadeScore half("vim {}");  // 3 / 2 = 1: misses the second and the third
  ASSERT_TRUE(half.Fit(training.Input(), {}).ok());
  EXPECT_NEAR(half.Compute(input).value()[0], 5 / (2 + 2 + 1 + 1.0) * std::sqrt(3 * 3 + 7 * 7) + energy, 1e-11);
}

TEST(Vim, RefusesInvalidFitInput) {
  Training training;
  EXPECT_THAT(MadeScore("vim { principal_dim: 3 }").Fit(training.Input(), {}).message(),
              HasSubstr("principal_dim is 3; it must be below the 3"));
  std::vector<float> flat = training.features;
  for (size_t i = 2; i < flat.size(); i += 3) flat[i] = 0;
  ScoreInput input = training.Input();
  input.features = flat;
  EXPECT_THAT(MadeScore("vim { principal_dim: 2 }").Fit(input, {}).message(), HasSubstr("span 2 of 3 directions"));
  for (float& logit : training.logits) logit -= 10;
  EXPECT_THAT(MadeScore("vim { principal_dim: 2 }").Fit(training.Input(), {}).message(),
              HasSubstr("ViM can't be used: this network's largest logits average "));
  training.weight.clear();
  EXPECT_THAT(MadeScore("vim { principal_dim: 2 }").Fit(training.Input(), {}).message(), HasSubstr("linear head"));
}

}  // namespace
}  // namespace openset
