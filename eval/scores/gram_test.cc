#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Two classes; two stages of one value. Of the ten training samples, five are predicted as class 0 (values 1 to 2 and
// 10 to 20), four as class 1 (4 to 8 and 10 to 20), and the tenth, of class 0, lies outside by 1/2 of the upper bound
// and 1/4.
struct Example {
  std::vector<float> values = {1, 10, 4, 10, 2, 20, 8, 20, 1, 10, 4, 10, 2, 20, 8, 20, 1, 10, 3, 25};
  std::vector<int64_t> widths = {1, 1};
  std::vector<float> logits;
  std::vector<int32_t> labels = {0, 1, 0, 1, 0, 1, 0, 1, 0, 0};
  Example() {
    for (const int32_t label : labels)
      logits.insert(logits.end(), {label == 0 ? 1.0f : 0.0f, label == 0 ? 0.0f : 1.0f});
  }

  ScoreInput Input(const std::vector<float>& of, const std::vector<float>& with_logits) const {
    return WithStages(LogitRows(with_logits, 2), of, widths);
  }
};

TEST(Gram, IsTheDeviationOverTheExpectedOne) {
  const Example example;
  MadeScore score("gram {}");
  ASSERT_THAT(score.Fit(example.Input(example.values, example.logits), example.labels), IsOk());
  const std::vector<float> samples = {1.5f, 15, 4, 15, 1.5f, 5, 4, 15, 4, 15};
  const std::vector<float> logits = {1, 0, 1, 0, 1, 0, 0, 1, 1, 1};
  // 2 / 2 over 1/2; 5 / 10 over 1/4; nothing as class 1; nothing as the better of both. All have the probability of the
  // tenth sample, which cancels.
  EXPECT_THAT(score.Compute(example.Input(samples, logits)).value(),
              ElementsAre(0, DoubleNear(2, 1e-5), DoubleNear(2, 1e-5), 0, 0));
  // With both logits equal, probabilities are 1/2 instead of e / (e + 1).
  EXPECT_THAT(score.Compute(example.Input({16, 15}, {0, 0})).value(),
              ElementsAre(DoubleNear(2 * 2 * std::exp(1) / (std::exp(1) + 1), 1e-5)));
}

TEST(Gram, UnpredictedClassesUseTheExtremesOfAll) {
  Example example;
  for (size_t i = 0; i < example.logits.size(); i += 2) example.logits[i] = 1, example.logits[i + 1] = 0;
  MadeScore score("gram {}");
  ASSERT_THAT(score.Fit(example.Input(example.values, example.logits), example.labels), IsOk());
  const std::vector<float> samples = {8, 15, 16, 15};
  const std::vector<float> logits = {0, 1, 0, 1};
  // The tenth sample's first value is inside, so that E is 1e-7 in its stage: 8 / 8, over e / (e + 1).
  EXPECT_THAT(score.Compute(example.Input(samples, logits)).value(),
              ElementsAre(0, DoubleNear(1e7 * (1 + std::exp(-1)), 100)));
}

TEST(Gram, NeedsTenSamples) {
  Example example;
  example.values.resize(18);
  example.logits.resize(18);
  example.labels.resize(9);
  EXPECT_EQ(MadeScore("gram {}").Fit(example.Input(example.values, example.logits), example.labels).message(),
            "gram needs ten training samples or more");
}

}  // namespace
}  // namespace openset
