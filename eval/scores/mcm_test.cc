#include <cmath>

#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Mcm, MatchesImagesWithTexts) {
  const std::vector<float> texts = {2, 0, 0, 5};  // at right angles
  const std::vector<float> images = {7, 0, 3, 4, 0, 0};
  const ScoreInput input = WithHead(FeatureRows(images, 2, {}, 2), texts);
  const std::vector<double> scores = MadeScore("mcm {}").Compute(input).value();
  EXPECT_NEAR(scores[0], -1 / (1 + std::exp(-1)), 1e-15);
  EXPECT_NEAR(scores[1], -1 / (1 + std::exp(0.6 - 0.8)), 1e-15);
  EXPECT_EQ(scores[2], -0.5);  // no direction
  const std::vector<double> cosines = MadeScore("mcm { form: MAX_COSINE }").Compute(input).value();
  EXPECT_NEAR(cosines[0], -1, 1e-15);
  EXPECT_NEAR(cosines[1], -0.8, 1e-15);
  EXPECT_EQ(cosines[2], 0);
  EXPECT_NEAR(MadeScore("mcm { temperature: 0.01 }").Compute(input).value()[1], -1 / (1 + std::exp(-20)), 1e-13);
}

}  // namespace
}  // namespace openset
