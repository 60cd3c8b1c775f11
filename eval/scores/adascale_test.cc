#include <algorithm>
#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// One output that adds the features.
struct Example {
  std::vector<float> weight = std::vector<float>(4, 1);

  ScoreInput Input(const std::vector<float>& features, const std::vector<float>& perturbed) const {
    ScoreInput input = WithHead(FeatureRows(features, 4, {}, 1), weight);
    input.perturbed_features = perturbed;
    return input;
  }
};

// q: the value of the largest feature after the change, plus 2 times its shift.
AdascaleSpec OneFeature(AdascaleSpec::Variant variant) {
  AdascaleSpec options;
  options.set_variant(variant);
  options.set_min_percentile(25);
  options.set_max_percentile(75);
  options.set_k1(25);
  options.set_k2(25);
  options.set_lambda(2);
  return options;
}

TEST(Adascale, ScalesByAPercentileOfTheSampleItself) {
  const Example example;
  // q of the training samples: 4 and 2 + 2 * 2 = 6.
  const std::vector<float> train = {4, 0, 0, 0, 0, 4, 0, 0};
  const std::vector<float> train_changed = {4, 9, 9, 9, 0, 2, 0, 0};
  // q: 3 + 2 = 5, above half of them: percentile 50 keeps 2. q: 7 keeps 3. q: 0 + 2 * 0.5 = 1 keeps 1.
  const std::vector<float> test = {1, 4, 2, 3, 1, 4, 2, 3, 0.5, 0.25, 0.125, 0.125};
  const std::vector<float> changed = {0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0};
  const double ratio[] = {10.0 / 7, 10.0 / 9, 2};
  const double sum[] = {10, 10, 1};
  for (const AdascaleSpec::Variant variant : {AdascaleSpec::A, AdascaleSpec::L}) {
    MadeScore adascale(OneFeature(variant));
    ASSERT_TRUE(adascale.Fit(example.Input(train, train_changed), {}).ok());
    const std::vector<double> scores = adascale.Compute(example.Input(test, changed)).value();
    for (int row = 0; row < 3; ++row) {
      const double factor = variant == AdascaleSpec::A ? std::exp(ratio[row]) : ratio[row] * ratio[row];
      EXPECT_NEAR(scores[row], -sum[row] * factor, 1e-12) << row;
    }
  }
}

// 1,000 equal features, of which percentile 99.9 keeps one: the ratio is 1000, and exp(1000) no double. 10 of them:
// 100.
TEST(Adascale, RefusesARatioThatIsTooLargeWithTheRow) {
  std::vector<float> features(2000, 1), weight(1000, 1);
  std::fill_n(features.begin() + 1, 999, 0);
  ScoreInput input;
  input.num_samples = 2;
  input.num_outputs = 1;
  input.feature_dim = 1000;
  input.features = features;
  input.perturbed_features = features;
  input.head_weight = weight;
  AdascaleSpec options;
  options.set_min_percentile(99.9);
  options.set_max_percentile(99.9);
  MadeScore adascale(options);
  ASSERT_TRUE(adascale.Fit(input, {}).ok());
  EXPECT_THAT(adascale.Compute(input), IsInvalidArgument("the features of row 1 cannot be scaled"));
  options.set_min_percentile(99);
  options.set_max_percentile(99);
  MadeScore lower(options);
  ASSERT_TRUE(lower.Fit(input, {}).ok());
  EXPECT_NEAR(lower.Compute(input).value()[1] / std::exp(100), -1000, 1e-9);
}

TEST(Adascale, RefusesOutputsWithoutPerturbedFeatures) {
  const Example example;
  const std::vector<float> train = {4, 0, 0, 0};
  EXPECT_THAT(MadeScore("adascale {}").Fit(example.Input(train, {}), {}).message(), HasSubstr("perturbed_features"));
  const std::vector<float> nan = {4, 0, std::nanf(""), 0};
  EXPECT_THAT(MadeScore("adascale {}").Fit(example.Input(train, nan), {}).message(), HasSubstr("row 0, feature 2"));
}

}  // namespace
}  // namespace openset
