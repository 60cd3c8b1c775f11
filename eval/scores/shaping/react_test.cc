#include "eval/scores/shaping/react.h"

#include <cmath>
#include <limits>

#include "eval/scores/logits/energy.h"
#include "eval/testing/score_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// Two samples of two features and two outputs: z = (x0 + 0.5, 2 x1).
struct Outputs {
  std::vector<float> features = {1, 4, 3, 0};
  std::vector<float> logits = {1.5, 8, 3.5, 0};
  std::vector<float> weight = {1, 0, 0, 2};
  std::vector<float> bias = {0.5, 0};
  ScoreInput Input() const { return testing::WithHead(testing::FeatureRows(features, 2, logits, 2), weight, bias); }
};

TEST(React, ClipsFeaturesBeforeTheHead) {
  const Outputs outputs;
  const std::vector<double> scores = React(2, 90).Compute(outputs.Input()).value();
  EXPECT_NEAR(scores[0], -std::log(std::exp(1.5) + std::exp(2 * 2)), 1e-14);
  EXPECT_NEAR(scores[1], -std::log(std::exp(2 + 0.5) + std::exp(0)), 1e-14);
}

TEST(React, WithoutAnyClippingIsTheEnergy) {
  const Outputs outputs;
  const std::vector<double> energy = Energy(1).Compute(outputs.Input()).value();
  for (const double clip : {4.0, std::numeric_limits<double>::infinity()}) {
    const std::vector<double> scores = React(clip, 90).Compute(outputs.Input()).value();
    EXPECT_NEAR(scores[0], energy[0], 1e-14);
    EXPECT_NEAR(scores[1], energy[1], 1e-14);
  }
}

TEST(React, FitsAPercentileOfAllValuesOfAllFeatures) {
  const Outputs outputs;
  React score(std::nullopt, 90);
  ASSERT_TRUE(score.Fit(outputs.Input(), {}).ok());
  EXPECT_DOUBLE_EQ(*score.clip(), 3 + 0.7 * (4 - 3));  // 0, 1, 3, 4: position 0.9 * 3
  React given(2, 90);
  ASSERT_TRUE(given.Fit(outputs.Input(), {}).ok());
  EXPECT_EQ(*given.clip(), 2);
}

TEST(React, RefusesInvalidInput) {
  Outputs outputs;
  React score(std::nullopt, 90);
  EXPECT_EQ(score.Compute(outputs.Input()).status().code(), absl::StatusCode::kFailedPrecondition);
  ScoreInput none = outputs.Input();
  none.num_samples = 0;
  none.features = {};
  EXPECT_THAT(score.Fit(none, {}).message(), HasSubstr("no samples"));
  none.num_samples = 2;
  EXPECT_THAT(score.Fit(none, {}).message(), HasSubstr("needs features"));
  outputs.features[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(score.Fit(outputs.Input(), {}).message(), HasSubstr("not finite in row 1, feature 1"));
}

}  // namespace
}  // namespace openset
