#include "eval/scores/weiper_kld.h"

#include <cmath>

#include "eval/testing/golden_scores.h"
#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

WeiperKldSpec ThreeHeads() {
  WeiperKldSpec options;
  options.set_repeats(3);
  return options;
}

void ExpectGolden(const WeiperKldSpec& options, const char* name) {
  const PostHocGolden golden;
  WeiperKld weiper(options);
  auto noise = golden.weiper_noise().begin();
  ASSERT_TRUE(weiper.FitWithNoise(golden.Train(), [&noise] { return *noise++; }).ok());
  EXPECT_TRUE(noise == golden.weiper_noise().end());
  golden.ExpectScores(weiper.Compute(golden.Test()).value(), name, 1e-11);
}

TEST(WeiperKld, EqualsGoldenValues) {
  ExpectGolden(ThreeHeads(), "weiper_kld");
  WeiperKldSpec few = ThreeHeads();
  few.set_distance(2.4);
  few.set_bins(7);
  few.set_lambda_1(0.1);
  few.set_lambda_2(1);
  few.set_smoothing(1);
  few.set_smoothing_perturbed(2);
  ExpectGolden(few, "weiper_kld_few");
}

TEST(WeiperKld, DrawsByItsSeed) {
  const PostHocGolden golden;
  const auto scores = [&golden](uint64_t seed) {
    WeiperKldSpec options = ThreeHeads();
    options.set_seed(seed);
    WeiperKld weiper(options);
    EXPECT_TRUE(weiper.Fit(golden.Train(), golden.train_labels()).ok());
    return weiper.Compute(golden.Test()).value();
  };
  EXPECT_EQ(scores(1), scores(1));
  EXPECT_NE(scores(1), scores(2));
}

// One feature, one output and one bin for all: only the epsilons could differ, and they don't.
TEST(WeiperKld, IsMinusTheConfidenceForEqualHistograms) {
  const std::vector<float> train = {0, 1, 2};
  const std::vector<float> weight = {1, -1};
  const ScoreInput input = WithHead(FeatureRows(train, 1, {}, 2), weight);
  WeiperKldSpec options;
  options.set_repeats(1);
  options.set_distance(0);
  options.set_bins(1);
  options.set_lambda_2(3);
  WeiperKld weiper(options);
  ASSERT_TRUE(weiper.Fit(input, {}).ok());
  const std::vector<double> scores = weiper.Compute(input).value();
  for (int row = 0; row < 3; ++row) EXPECT_NEAR(scores[row], -3 / (1 + std::exp(-2.0 * row)), 1e-12);
}

}  // namespace
}  // namespace openset
