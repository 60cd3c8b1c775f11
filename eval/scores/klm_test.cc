#include <cmath>
#include <limits>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput InputOf(const std::vector<float>& logits, int64_t k) { return LogitRows(logits, k); }

TEST(Klm, IsTheDivergenceFromTheNearestMean) {
  // Predicted as 0: p = (3/4, 1/4) and (1/2, 1/2), mean (5/8, 3/8). As 1: (1/4, 3/4).
  const float ln3 = std::log(3.0f);
  const std::vector<float> train = {ln3, 0, 0, 0, 0, ln3};
  MadeScore klm("klm {}");
  ASSERT_TRUE(klm.Fit(InputOf(train, 2), {}).ok());
  const std::vector<float> logits = {0, 0, 5, 5 + ln3};
  const std::vector<double> scores = klm.Compute(InputOf(logits, 2)).value();
  EXPECT_NEAR(scores[0], 0.5 * std::log(0.5 / 0.625) + 0.5 * std::log(0.5 / 0.375), 1e-7);
  EXPECT_NEAR(scores[1], 0, 1e-7);
}

TEST(Klm, LeavesClassesOutThatAreNeverPredicted) {
  const std::vector<float> train = {1, 0, -1, 0, 1, -1};
  MadeScore klm("klm {}");
  ASSERT_TRUE(klm.Fit(InputOf(train, 3), {}).ok());
  // p = (a, a, 1 - 2 a) is equally far from the two means, softmax(1, 0, -1) and softmax(0, 1, -1).
  const std::vector<float> logits = {-1, -1, 3};
  const double a = 1 / (2 + std::exp(4)), rest = 1 - 2 * a;
  const double log_sum = std::log(std::exp(1) + 1 + std::exp(-1));
  const double expected =
      a * (std::log(a) - (1 - log_sum)) + a * (std::log(a) - (0 - log_sum)) + rest * (std::log(rest) - (-1 - log_sum));
  EXPECT_NEAR(klm.Compute(InputOf(logits, 3)).value()[0], expected, 1e-12);
}

TEST(Klm, TellsProbabilitiesApartThatAreTooSmallForADouble) {
  const std::vector<float> train = {2000, 0, 0, 2000};
  MadeScore klm("klm {}");
  ASSERT_TRUE(klm.Fit(InputOf(train, 2), {}).ok());
  const std::vector<float> logits = {0, 0};
  EXPECT_NEAR(klm.Compute(InputOf(logits, 2)).value()[0], 1000 - std::log(2), 1e-9);
}

TEST(Klm, RefusesInfiniteTrainingLogits) {
  const std::vector<float> train = {1, 0, std::numeric_limits<float>::infinity(), 0};
  EXPECT_THAT(MadeScore("klm {}").Fit(InputOf(train, 2), {}).message(), HasSubstr("row 1"));
}

}  // namespace
}  // namespace openset
