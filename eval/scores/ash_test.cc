#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// The head z = (x0 + x1, x2 + x3 + 0.5).
struct Outputs {
  std::vector<float> features;
  std::vector<float> logits;
  std::vector<float> weight = {1, 1, 0, 0, 0, 0, 1, 1};
  std::vector<float> bias = {0, 0.5};

  explicit Outputs(const std::vector<float>& x) : features(x) {
    for (size_t i = 0; i < x.size(); i += 4) {
      logits.push_back(x[i] + x[i + 1]);
      logits.push_back(x[i + 2] + x[i + 3] + 0.5f);
    }
  }
  ScoreInput Input() const { return WithHead(FeatureRows(features, 4, logits, 2), weight, bias); }
};

double EnergyOf(double z0, double z1) { return -std::log(std::exp(z0) + std::exp(z1)); }

TEST(Ash, ShapesTheFeaturesThatAreLeft) {
  const Outputs outputs({3, 1, 2, 0.5});  // of sum 6.5; at 50 %, 3 and 2 are left
  const auto score = [&](const char* variant) {
    return MadeScore(absl::StrCat("ash { percentile: 50 variant: ", variant, " }")).Compute(outputs.Input()).value()[0];
  };
  EXPECT_NEAR(score("P"), EnergyOf(3, 2.5), 1e-13);
  EXPECT_NEAR(score("B"), EnergyOf(3.25, 3.75), 1e-13);
  const double factor = std::exp(6.5 / 5);
  EXPECT_NEAR(score("S"), EnergyOf(3 * factor, 2 * factor + 0.5), 1e-13);
}

TEST(Ash, KeepsTheStatedNumberOfEqualFeatures) {
  const Outputs outputs({1, 1, 1, 1});
  for (const int kept : {0, 1, 2, 3, 4}) {  // 0: at least one is left
    const double expected = EnergyOf(std::min(std::max(kept, 1), 2), std::max(kept - 2, 0) + 0.5);
    EXPECT_NEAR(MadeScore(absl::StrCat("ash { variant: P percentile: ", 100 - 25 * kept, " }"))
                    .Compute(outputs.Input())
                    .value()[0],
                expected, 1e-13)
        << kept;
  }
}

TEST(Ash, WithoutPruningPIsTheEnergy) {
  const Outputs outputs({3, 1, 2, 0.5, 0, 0, 4, 1});
  const std::vector<double> scores = MadeScore("ash { variant: P percentile: 0 }").Compute(outputs.Input()).value();
  const std::vector<double> energy = MadeScore("energy {}").Compute(outputs.Input()).value();
  EXPECT_NEAR(scores[0], energy[0], 1e-13);
  EXPECT_NEAR(scores[1], energy[1], 1e-13);
}

TEST(Ash, RefusesFeaturesThatItCannotScale) {
  const Outputs zeros({0, 0, 0, 0});
  EXPECT_NEAR(MadeScore("ash { variant: S percentile: 90 }").Compute(zeros.Input()).value()[0], EnergyOf(0, 0.5),
              1e-13);
  const Outputs negative({3, 1, 2, 0.5, -1, -2, -3, -4});
  const absl::Status status = MadeScore("ash { variant: S percentile: 50 }").Compute(negative.Input()).status();
  EXPECT_THAT(status, IsInvalidArgument("row 1"));
  EXPECT_TRUE(MadeScore("ash { variant: P percentile: 50 }").Compute(negative.Input()).ok());
  ScoreInput headless = zeros.Input();
  headless.head_weight = {};
  EXPECT_THAT(MadeScore("ash { variant: P percentile: 50 }").Compute(headless).status().message(),
              HasSubstr("linear head"));
}

}  // namespace
}  // namespace openset
