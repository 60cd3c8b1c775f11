#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Two classes; a stage of one value and one of two. Around the class means (0 and 10; (0, 0) and (0, 8)), each
// direction has the variance 1, 1/4 and 4.
struct Example {
  std::vector<float> values = {-1, 0.5f, 2,  1,  -0.5f, 2,  -1, -0.5f, -2, 1,  0.5f, -2,
                               9,  0.5f, 10, 11, -0.5f, 10, 9,  -0.5f, 6,  11, 0.5f, 6};
  std::vector<int64_t> widths = {1, 2};
  std::vector<float> logits = std::vector<float>(16, 0.0f);
  std::vector<int32_t> labels = {0, 0, 0, 0, 1, 1, 1, 1};

  ScoreInput Input(const std::vector<float>& of) const {
    return WithStages(LogitRows(absl::MakeSpan(logits).first(2 * (of.size() / 3)), 2), of, widths);
  }
};

// 3 from 10 is 9; (1, 4) is 4 + 4 from either mean. The nearest class of each stage is that stage's own.
TEST(MahalanobisEnsemble, IsTheSumOverStages) {
  const Example example;
  const std::vector<float> samples = {0, 0, 0, 13, 1, 4, 1, 0, 8};
  MadeScore score("mahalanobis_ensemble {}");
  ASSERT_THAT(score.Fit(example.Input(example.values), example.labels), IsOk());
  EXPECT_THAT(score.Compute(example.Input(samples)).value(),
              ElementsAre(DoubleNear(0, 1e-9), DoubleNear(17, 1e-9), DoubleNear(1, 1e-9)));
  MadeScore weighted("mahalanobis_ensemble { weight: [2, 0.5] }");
  ASSERT_THAT(weighted.Fit(example.Input(example.values), example.labels), IsOk());
  EXPECT_THAT(weighted.Compute(example.Input(samples)).value(),
              ElementsAre(DoubleNear(0, 1e-9), DoubleNear(22, 1e-9), DoubleNear(2, 1e-9)));
}

TEST(MahalanobisEnsemble, ErrorsSayWhatIsWrong) {
  Example example;
  EXPECT_EQ(
      MadeScore("mahalanobis_ensemble { weight: 1 }").Fit(example.Input(example.values), example.labels).message(),
      "mahalanobis_ensemble has 1 weights for 2 stages");
  for (size_t i = 0; i < example.values.size(); i += 3) example.values[i] = 1;
  EXPECT_THAT(MadeScore("mahalanobis_ensemble {}").Fit(example.Input(example.values), example.labels).message(),
              HasSubstr("stage 1: "));
}

}  // namespace
}  // namespace openset
