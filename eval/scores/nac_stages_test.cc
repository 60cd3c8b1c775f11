#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Two samples of a class each; a stage of one value, and the last one of two.
struct Example {
  std::vector<float> values = {1, 1, 1, 2, -1, 1};
  std::vector<int64_t> widths = {1, 2};
  std::vector<float> logits = {1, 0, 0, 1, 0, 0};

  ScoreInput Input(const std::vector<float>& of) const {
    return WithStages(LogitRows(absl::MakeSpan(logits).first(2 * (of.size() / 3)), 2), of, widths);
  }
};

// With four thresholds a state is in one interval below 1/2 (a value below 0) and in another from it on.
TEST(NacStages, IsTheMeanOfTheCoveragesOfStages) {
  const Example example;
  MadeScore score(
      "nac_stages { samples: 0 stage { full: 1 thresholds: 4 steepness: 1 } stage { full: 4 thresholds: 4 steepness: 1 "
      "} }");
  ASSERT_THAT(score.Fit(example.Input(example.values), {0, 1}), IsOk());
  // The last stage in full where a sample was; the first one by 2 of 4 above, 0 below.
  EXPECT_THAT(score.Compute(example.Input({5, 1, 1, -5, 1, 1, -5, -1, -1})).value(),
              ElementsAre(DoubleNear(-(1 + 0.5) / 2, 1e-12), DoubleNear(-0.5, 1e-12), DoubleNear(-0.25, 1e-12)));
}

TEST(NacStages, TakesTheLastStagesAlone) {
  const Example example;
  MadeScore score("nac_stages { samples: 0 stage { full: 1 thresholds: 4 steepness: 1 } }");
  ASSERT_THAT(score.Fit(example.Input(example.values), {0, 1}), IsOk());
  EXPECT_THAT(score.Compute(example.Input({-5, 1, 1, 5, -1, -1})).value(),
              ElementsAre(DoubleNear(-1, 1e-12), DoubleNear(-0.5, 1e-12)));
}

TEST(NacStages, RefusesMoreSettingsThanStages) {
  const Example example;
  EXPECT_EQ(MadeScore("nac_stages { samples: 0 stage {} stage {} stage {} }")
                .Fit(example.Input(example.values), {0, 1})
                .message(),
            "nac_stages has settings of 3 stages; the network has 2");
}

}  // namespace
}  // namespace openset
