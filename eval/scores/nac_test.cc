#include <cmath>
#include <set>

#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Two outputs, z = (x_0, 0): p_0 - 1/2 > 0 where x_0 > 0, and g = (p_0 - 1/2, 0). So x_1 has the state 1/2 always.
struct Model {
  std::vector<float> weight = {1, 0, 0, 0};
  ScoreInput Input(const std::vector<float>& features, const std::vector<float>& logits = {}) const {
    return WithHead(FeatureRows(features, 2, logits, 2), weight);
  }
};

// With four thresholds there are the intervals [0, 1/2), [1/2, 1.01) and [1.01, 1.2). x_0 g_0 >= 0: all states are in
// the second one.
TEST(Nac, CountsTheTrainingSamplesOfAnInterval) {
  const Model model;
  NacSpec options;
  options.set_full(4);
  options.set_thresholds(4);
  MadeScore score(options);
  const std::vector<float> logits(6, 0.0f);
  ASSERT_TRUE(score.Fit(model.Input({1, 1, 2, 0, -3, 1}, logits), {0, 1, 0}).ok());
  // As many of each class: two samples are counted, of four that cover in full.
  EXPECT_DOUBLE_EQ(score.Compute(model.Input({5, 3})).value()[0], -0.5);
  options.set_samples(0);
  MadeScore of_all(options);
  ASSERT_TRUE(of_all.Fit(model.Input({1, 1, 2, 0, -3, 1}, logits), {0, 1, 0}).ok());
  EXPECT_DOUBLE_EQ(of_all.Compute(model.Input({5, 3})).value()[0], -0.75);
}

// Two features: no training sample has the state of one, all have the state of the other.
TEST(Nac, UnseenStatesHaveNoCoverage) {
  const Model model;
  NacSpec options;
  options.set_full(1);
  options.set_steepness(1);
  MadeScore score(options);
  const std::vector<float> logits(4, 0.0f);
  ASSERT_TRUE(score.Fit(model.Input({0, 1, 0, 2}, logits), {0, 1}).ok());
  EXPECT_DOUBLE_EQ(score.Compute(model.Input({0, 0})).value()[0], -1);
  EXPECT_DOUBLE_EQ(score.Compute(model.Input({100, 0})).value()[0], -0.5);
}

// 100 samples of a class: a tenth is drawn, the same in each fit.
TEST(Nac, DrawsTheSameSamplesEachTime) {
  const Model model;
  std::vector<float> features, logits(400, 0.0f);
  std::vector<int32_t> labels;
  for (int row = 0; row < 200; ++row) {
    features.insert(features.end(), {row * 0.01f, 1.0f});
    labels.push_back(row % 2);
  }
  NacSpec options;
  options.set_full(1);
  options.set_samples(20);
  MadeScore first(options), second(options);
  ASSERT_TRUE(first.Fit(model.Input(features, logits), labels).ok());
  ASSERT_TRUE(second.Fit(model.Input(features, logits), labels).ok());
  EXPECT_EQ(first.Compute(model.Input(features)).value(), second.Compute(model.Input(features)).value());
}

// Tenths are not binary fractions: a sum of them depends on their order and would break ties between equal counts.
TEST(Nac, HasOneScoreForOneSumOfCounts) {
  constexpr int kDim = 12, kRows = 400, kFull = 10;
  RandomStream random(3, "nac");
  std::vector<float> weight(2 * kDim), features(kRows * kDim), logits(2 * kRows, 0.0f);
  for (float& w : weight) w = static_cast<float>(random.Normal());
  for (float& x : features) x = static_cast<float>(random.Uniform());
  std::vector<int32_t> labels(kRows);
  for (int row = 0; row < kRows; ++row) labels[row] = row % 2;
  const ScoreInput input = WithHead(FeatureRows(features, kDim, logits, 2), weight);
  NacSpec options;
  options.set_full(kFull);
  options.set_samples(40);
  options.set_steepness(10);
  MadeScore score(options);
  ASSERT_TRUE(score.Fit(input, labels).ok());
  std::set<double> distinct;
  const std::vector<double> scores = score.Compute(input).value();
  for (const double value : scores) {
    distinct.insert(value);
    EXPECT_EQ(value, -std::round(-value * kFull * kDim) / (kFull * kDim));
  }
  EXPECT_GT(distinct.size(), 10);  // far from one score for all
}

TEST(Nac, RefusesInvalidFitInput) {
  Model model;
  MadeScore score("nac {}");
  model.weight.clear();
  EXPECT_THAT(score.Fit(model.Input({1, 1}, {0, 0}), {0}).message(), HasSubstr("head_weight"));
}

}  // namespace
}  // namespace openset
