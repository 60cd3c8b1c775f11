#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

absl::StatusOr<std::vector<double>> ScoresOf(const std::vector<double>& weight, const std::vector<float>& logits) {
  WeightedEnergySpec spec;
  for (const double each : weight) spec.add_weight(each);
  return MadeScore(spec).Compute(LogitRows(logits, logits.size()));
}

TEST(WeightedEnergy, WeighsTheClasses) {
  EXPECT_NEAR(ScoresOf({2, 0.5, -3}, {1, 3, 50}).value()[0], -std::log(2 * std::exp(1) + 0.5 * std::exp(3)), 1e-14);
  EXPECT_NEAR(ScoresOf({}, {1, 3}).value()[0], -std::log(std::exp(1) + std::exp(3)), 1e-14);
  EXPECT_NEAR(ScoresOf({1, 1}, {1000, 1000}).value()[0], -1000 - std::log(2), 1e-12);
  EXPECT_EQ(ScoresOf({1, 0}, {-INFINITY, 1}).value()[0], INFINITY);
}

TEST(WeightedEnergy, RefusesWeightsThatDoNotFit) {
  EXPECT_THAT(ScoresOf({1}, {1, 2}).status().message(), HasSubstr("has 1 weights; the outputs have 2 logits"));
  EXPECT_THAT(ScoresOf({0, -1}, {1, 2}).status().message(), HasSubstr("no weight is above 0"));
  EXPECT_THAT(ScoresOf({1, 1}, {INFINITY, 2}).status().message(), HasSubstr("row 0"));
}

}  // namespace
}  // namespace openset
