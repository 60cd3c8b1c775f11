#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// The head z = (x0 - x1 + 1, 2 x0 + 3 x1). The mean features are (2, 0.5), the contributions 2, -0.5, 4, 1.5.
struct Outputs {
  std::vector<float> features = {1, 0, 3, 1};
  std::vector<float> logits = {2, 2, 3, 9};
  std::vector<float> weight = {1, -1, 2, 3};
  std::vector<float> bias = {1, 0};
  ScoreInput Input() const { return WithHead(FeatureRows(features, 2, logits, 2), weight, bias); }
};

double EnergyOf(double z0, double z1) { return -std::log(std::exp(z0) + std::exp(z1)); }

TEST(Dice, KeepsTheWeightsThatContributeMost) {
  const Outputs outputs;
  MadeScore half("dice { percentile: 50 }");  // above (1.5 + 2) / 2: the weights of x0
  ASSERT_TRUE(half.Fit(outputs.Input(), {}).ok());
  EXPECT_NEAR(half.Compute(outputs.Input()).value()[1], EnergyOf(3 + 1, 6), 1e-13);
  MadeScore most("dice { percentile: 90 }");  // above 2 + 0.7 (4 - 2)
  ASSERT_TRUE(most.Fit(outputs.Input(), {}).ok());
  EXPECT_NEAR(most.Compute(outputs.Input()).value()[1], EnergyOf(1, 6), 1e-13);
}

TEST(Dice, WithoutSparsityIsTheEnergy) {
  const Outputs outputs;
  MadeScore score("dice { percentile: 0 }");
  ASSERT_TRUE(score.Fit(outputs.Input(), {}).ok());
  const std::vector<double> scores = score.Compute(outputs.Input()).value();
  const std::vector<double> energy = MadeScore("energy {}").Compute(outputs.Input()).value();
  EXPECT_NEAR(scores[0], energy[0], 1e-13);
  EXPECT_NEAR(scores[1], energy[1], 1e-13);
}

TEST(Dice, RefusesInvalidInput) {
  Outputs outputs;
  MadeScore score("dice { percentile: 90 }");
  outputs.weight.pop_back();
  EXPECT_THAT(score.Fit(outputs.Input(), {}).message(), HasSubstr("3 values for 2 outputs and 2 features"));
}

}  // namespace
}  // namespace openset
