#include <cmath>

#include "absl/strings/str_cat.h"
#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

ScoreInput InputOf(const std::vector<float>& features, const std::vector<float>& logits) {
  return FeatureRows(features, 2, logits, 2);
}

TEST(Relation, SumsCosineTimesAgreementAboveTheThreshold) {
  // To (1, 0) of p = (3/4, 1/4): cosines 1, 0.6, 0, -1; agreements 1/2 (undecided) and 5/8 (alike).
  const float ln3 = std::log(3.0f);
  const std::vector<float> features = {7, 0, 3, 4, 0, 1, -1, 0};
  const std::vector<float> logits = {1, 1, ln3, 0, ln3, 0, ln3, 0};
  const std::vector<float> test = {1, 0};
  const std::vector<float> test_logits = {ln3, 0};
  const auto score = [&](double power, double threshold) {
    MadeScore relation(absl::StrCat("relation { power: ", power, " threshold: ", threshold, " }"));
    EXPECT_TRUE(relation.Fit(InputOf(features, logits), {}).ok());
    return relation.Compute(InputOf(test, test_logits)).value()[0];
  };
  EXPECT_NEAR(score(1, 0.03), -(0.5 + 0.6 * 0.625), 1e-7);
  EXPECT_NEAR(score(1, 0.4), -0.5, 1e-7);
  EXPECT_NEAR(score(2, 0), -(0.25 + 0.375 * 0.375), 1e-7);
}

}  // namespace
}  // namespace openset
