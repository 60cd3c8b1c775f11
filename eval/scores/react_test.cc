#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Two samples of two features and two outputs: z = (x0 + 0.5, 2 x1).
struct Outputs {
  std::vector<float> features = {1, 4, 3, 0};
  std::vector<float> logits = {1.5, 8, 3.5, 0};
  std::vector<float> weight = {1, 0, 0, 2};
  std::vector<float> bias = {0.5, 0};
  ScoreInput Input() const { return WithHead(FeatureRows(features, 2, logits, 2), weight, bias); }
};

TEST(React, ClipsFeaturesBeforeTheHead) {
  const Outputs outputs;
  const std::vector<double> scores = MadeScore("react { clip: 2 }").Compute(outputs.Input()).value();
  EXPECT_NEAR(scores[0], -std::log(std::exp(1.5) + std::exp(2 * 2)), 1e-14);
  EXPECT_NEAR(scores[1], -std::log(std::exp(2 + 0.5) + std::exp(0)), 1e-14);
}

TEST(React, WithoutAnyClippingIsTheEnergy) {
  const Outputs outputs;
  const std::vector<double> energy = MadeScore("energy {}").Compute(outputs.Input()).value();
  for (const double clip : {4.0, std::numeric_limits<double>::infinity()}) {
    const std::vector<double> scores =
        MadeScore(absl::StrCat("react { clip: ", clip, " }")).Compute(outputs.Input()).value();
    EXPECT_NEAR(scores[0], energy[0], 1e-14);
    EXPECT_NEAR(scores[1], energy[1], 1e-14);
  }
}

TEST(React, FitsAPercentileOfAllValuesOfAllFeatures) {
  const Outputs outputs;
  MadeScore score("react {}");
  ASSERT_TRUE(score.Fit(outputs.Input(), {}).ok());
  // 0, 1, 3, 4: position 0.9 * 3 is at 3 + 0.7 (4 - 3).
  const std::vector<double> expected = MadeScore("react { clip: 3.7 }").Compute(outputs.Input()).value();
  EXPECT_THAT(score.Compute(outputs.Input()).value(), ElementsAre(DoubleEq(expected[0]), DoubleEq(expected[1])));
  MadeScore given("react { clip: 2 }");
  const std::vector<double> before = given.Compute(outputs.Input()).value();
  ASSERT_TRUE(given.Fit(outputs.Input(), {}).ok());
  EXPECT_EQ(given.Compute(outputs.Input()).value(), before);
}

TEST(React, RefusesInvalidInput) {
  Outputs outputs;
  MadeScore score("react {}");
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
