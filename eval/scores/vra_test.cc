#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// One output that adds the features, so that the score is minus the logit.
ScoreInput InputOf(const std::vector<float>& features) {
  static const auto* const weight = new std::vector<float>(2, 1);
  return WithHead(FeatureRows(features, 2, {}, 1), *weight);
}

// Features 0, 1, 2, 3, 4 and ten times as much, of which the percentiles 25 and 75 are 1 and 3, 10 and 30; of all
// values, they are 1.25 and 17.5.
double ScoreOf(VraSpec spec, const std::vector<float>& features) {
  const std::vector<float> train = {0, 40, 1, 30, 2, 20, 3, 10, 4, 0};
  spec.set_low_percentile(25);
  spec.set_high_percentile(75);
  MadeScore vra(spec);
  EXPECT_TRUE(vra.Fit(InputOf(train), {}).ok());
  return vra.Compute(InputOf(features)).value()[0];
}

TEST(Vra, SuppressesSmallAndLargeFeatures) {
  EXPECT_EQ(ScoreOf({}, {1, 30}), -31);
  EXPECT_EQ(ScoreOf({}, {0.5f, 31}), -30);
  EXPECT_EQ(ScoreOf({}, {3.5f, -7}), -3);
  VraSpec plus;
  plus.set_shift(0.5);
  EXPECT_EQ(ScoreOf(plus, {1, 31}), -31.5);
  VraSpec clip;
  clip.set_low(VraSpec::CLIP);
  EXPECT_EQ(ScoreOf(clip, {0.5f, 9}), -11);
  clip.set_thresholds(VraSpec::OVERALL);
  EXPECT_EQ(ScoreOf(clip, {0.5f, 30}), -(1.25 + 17.5));
}

TEST(Vra, RefusesInvalidInput) {
  EXPECT_EQ(MadeScore("vra {}").Fit(InputOf({}), {}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset
