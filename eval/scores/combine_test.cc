#include "eval/scores/combine.h"

#include <cmath>

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score_members.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// The score of a sample is its feature of this number.
class Feature : public Score {
 public:
  explicit Feature(int64_t number) : number_(number) {}
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override {
    std::vector<double> scores;
    for (int64_t row = 0; row < input.num_samples; ++row) {
      scores.push_back(input.features[row * input.feature_dim + number_]);
    }
    return scores;
  }

 private:
  int64_t number_;
};

ScoreInput InputOf(const std::vector<float>& features) { return FeatureRows(features, 2); }

// Known scores 1, 2, 2, 4 and 40, 30, 20, 10, of a sample with the scores 2 and 35: p = (1 + 2 / 2 + 1/2) / 5 = 0.5 and
// (1 + 1/2) / 5 = 0.3.
double Combined(CombineSpec::Rule rule) {
  std::vector<Combine::Part> parts;
  parts.push_back({std::make_unique<Feature>(0)});
  parts.push_back({std::make_unique<Feature>(1)});
  Combine combine(rule, std::move(parts));
  const std::vector<float> known = {1, 40, 2, 30, 2, 20, 4, 10}, sample = {2, 35};
  EXPECT_TRUE(combine.Fit(InputOf(known), {0, 0, 1, 1}).ok());
  return combine.Compute(InputOf(sample)).value()[0];
}

TEST(Combine, CombinesPValues) {
  EXPECT_NEAR(Combined(CombineSpec::RANKS), (0.5 + 0.7) / 2, 1e-15);
  EXPECT_NEAR(Combined(CombineSpec::FISHER), -2 * (std::log(0.5) + std::log(0.3)), 1e-14);
  // The normal distribution has 0.7 below 0.5244005127080407.
  EXPECT_NEAR(Combined(CombineSpec::STOUFFER), 0.5244005127080407 / std::sqrt(2), 1e-14);
}

// The scores are fitted to every second sample of a class: k-nearest neighbours would find each of the others itself.
TEST(Combine, FitsAndRanksOnDifferentSamples) {
  std::vector<Combine::Part> parts;
  parts.push_back({Make(Parsed<KnnSpec>("k: 1")).value(), true});
  Combine combine(CombineSpec::RANKS, std::move(parts));
  // Class 0: directions of 0 (fit), 90 and 0 (fit) degrees; class 1: of 0 (fit) and 180.
  const std::vector<float> train = {1, 0, 1, 0, 0, 1, 1, 0, -1, 0};
  ASSERT_TRUE(combine.Fit(InputOf(train), {0, 1, 0, 0, 1}).ok());
  // Distances of the others: sqrt(2) and 2.
  const std::vector<float> samples = {5, 0, 0, 5, -1, 1};
  const std::vector<double> scores = combine.Compute(InputOf(samples)).value();
  EXPECT_NEAR(scores[0], 1 - 2.5 / 3, 1e-15);
  EXPECT_NEAR(scores[1], 1 - 2.0 / 3, 1e-15);
  EXPECT_NEAR(scores[2], 1 - 1.5 / 3, 1e-15);
}

TEST(Combine, RefusesInvalidInput) {
  std::vector<Combine::Part> parts;
  parts.push_back({Make(Parsed<KnnSpec>("k: 1")).value(), true});
  Combine combine(CombineSpec::FISHER, std::move(parts));
  const std::vector<float> one_of_each = {1, 0, 0, 1};
  EXPECT_EQ(combine.Compute(InputOf(one_of_each)).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(combine.Fit(InputOf(one_of_each), {0, 1}).message(), HasSubstr("two of a class"));
  EXPECT_THAT(combine.Fit(InputOf(one_of_each), {0}).message(), HasSubstr("1 labels for 2 samples"));
}

}  // namespace
}  // namespace openset
