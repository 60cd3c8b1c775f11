#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

struct Outputs {
  std::vector<float> features;
  std::vector<float> weight = {2, 0, 0, 1};
  std::vector<float> bias = {0, 0};
  ScoreInput Input() const { return WithHead(FeatureRows(features, 2, {}, 2), weight, bias); }
};

// U^T U = diag(3, 1): q = 1 / 3 along the first axis, 1 along the second.
TEST(Pnml, IsTheRegretOfTheGenies) {
  MadeScore pnml("pnml {}");
  ASSERT_TRUE(pnml.Fit(Outputs{{5, 0, -1, 0, 2, 0, 0, 3}}.Input(), {}).ok());
  const std::vector<double> scores = pnml.Compute(Outputs{{7, 0, 0, 0.5}}.Input()).value();
  const auto regret = [](double p, double g) {
    const auto genie = [g](double q) { return q / (q + (1 - q) * std::pow(q, g)); };
    return std::log(genie(p) + genie(1 - p)) / std::log(2);
  };
  EXPECT_NEAR(scores[0], regret(1 / (1 + std::exp(-2)), 0.25), 1e-14);
  EXPECT_NEAR(scores[1], regret(1 / (1 + std::exp(-1)), 0.5), 1e-14);
  EXPECT_LT(scores[0], scores[1]);
}

TEST(Pnml, IsZeroForACertainPrediction) {
  Outputs certain{{1, 0}, {1000, 0, 0, 0}};
  MadeScore pnml("pnml {}");
  ASSERT_TRUE(pnml.Fit(certain.Input(), {}).ok());
  EXPECT_NEAR(pnml.Compute(certain.Input()).value()[0], 0, 1e-14);
}

TEST(Pnml, RefusesFeaturesThatAreAllZero) {
  EXPECT_THAT(MadeScore("pnml {}").Fit(Outputs{{0, 0, 0, 0}}.Input(), {}).message(),
              ::testing::HasSubstr("no variance"));
}

}  // namespace
}  // namespace openset
