#include "eval/scores/openmax.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/testing/status_matchers.h"
#include "eval/scores/fits/extreme_values.h"
#include "eval/testing/golden.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput Input(const std::vector<float>& logits, int64_t outputs) { return LogitRows(logits, outputs); }

// Three samples of each of two classes, all right. Class 0 has the mean (4, 0) and Euclidean distances 1, 3, 2; class 1
// the mean (0, 2) and 0.5, 1.5, 1.
const std::vector<float> kTrain = {5, 0, 1, 0, 6, 0, 0, 1.5, 0, 3.5, 0, 1};
const std::vector<int32_t> kLabels = {0, 0, 0, 1, 1, 1};

OpenMaxSpec Euclidean() {
  OpenMaxSpec options;
  options.set_distance(OpenMaxSpec::EUCLIDEAN);
  options.set_tail(2);
  options.set_translation(1);
  return options;
}

TEST(OpenMax, RecalibratesAsGolden) {
  for (const GoldenCase& golden : ReadGolden("openmax.json", "recalibrate")) {
    SCOPED_TRACE(golden.name);
    const std::vector<double>& logits = golden.arrays.at("logits");  // descending: the rank is the position
    const double alpha = *golden.at("alpha");
    std::vector<double> removed(logits.size(), 0.0);
    for (int i = 0; i < std::min<int>(alpha, logits.size()); ++i) {
      const double weight = golden.arrays.count("weights") > 0 ? golden.arrays.at("weights")[i] : (alpha - i) / alpha;
      removed[i] = logits[i] * golden.arrays.at("w")[i] * weight;
    }
    const std::vector<double>& expected = golden.arrays.at("expected/prob_K_then_unknown");
    const std::vector<double> probability = OpenMaxProbabilities(logits, removed);
    ASSERT_EQ(probability.size(), expected.size());
    for (size_t c = 0; c < expected.size(); ++c) EXPECT_NEAR(probability[c], expected[c], 1e-12);
  }
}

TEST(OpenMax, MovesLogitsFarFromTheirClassToTheUnknown) {
  MadeScore score(Euclidean());
  ASSERT_TRUE(score.Fit(Input(kTrain, 2), kLabels).ok());
  const double cdf0 = FitWeibullTail({1, 3, 2}, 2, 1).value().Cdf(2);     // (4, 2) to (4, 0)
  const double cdf1 = FitWeibullTail({.5, 1.5, 1}, 2, 1).value().Cdf(4);  // (4, 2) to (0, 2)
  const double removed0 = 4 * cdf0 * 10 / 10;
  const double removed1 = 2 * cdf1 * 9 / 10;
  const double unknown = std::exp(removed0 + removed1);
  EXPECT_NEAR(score.Compute(Input({4, 2}, 2)).value()[0],
              unknown / (unknown + std::exp(4 - removed0) + std::exp(2 - removed1)), 1e-14);

  OpenMaxSpec options = Euclidean();
  options.set_alpha(1);
  options.set_rank_weight(0.5);
  MadeScore half(options);
  ASSERT_TRUE(half.Fit(Input(kTrain, 2), kLabels).ok());
  const double removed = 4 * cdf0 * 0.5;
  EXPECT_NEAR(half.Compute(Input({4, 2}, 2)).value()[0],
              std::exp(removed) / (std::exp(removed) + std::exp(4 - removed) + std::exp(2)), 1e-14);

  options.set_cdf_of(OpenMaxSpec::LOGIT);
  MadeScore of_logit(options);
  ASSERT_TRUE(of_logit.Fit(Input(kTrain, 2), kLabels).ok());
  EXPECT_NEAR(of_logit.Compute(Input({2, 1}, 2)).value()[0],
              std::exp(cdf0) / (std::exp(cdf0) + std::exp(2 - cdf0) + std::exp(1)), 1e-14);  // 2 again is its argument
}

TEST(OpenMax, EqualLogitsGetTheMeanOfTheirRanks) {
  OpenMaxSpec options = Euclidean();
  options.set_alpha(1);
  MadeScore score(options);
  ASSERT_TRUE(score.Fit(Input(kTrain, 2), kLabels).ok());
  const double removed0 = 3 * FitWeibullTail({1, 3, 2}, 2, 1).value().Cdf(std::sqrt(10.0)) / 2;
  const double removed1 = 3 * FitWeibullTail({.5, 1.5, 1}, 2, 1).value().Cdf(std::sqrt(10.0)) / 2;
  const double unknown = std::exp(removed0 + removed1);
  EXPECT_NEAR(score.Compute(Input({3, 3}, 2)).value()[0],
              unknown / (unknown + std::exp(3 - removed0) + std::exp(3 - removed1)), 1e-14);
}

TEST(OpenMax, LeavesOutputsAloneThatAreNoLabel) {
  std::vector<float> train;
  for (int row = 0; row < 6; ++row) train.insert(train.end(), {kTrain[2 * row], kTrain[2 * row + 1], -1});
  MadeScore score(Euclidean());
  ASSERT_TRUE(score.Fit(Input(train, 3), kLabels).ok());
  // Far from both classes, so that all of z_0 = 0 and z_1 = 0 is removed; z_2 stays.
  EXPECT_NEAR(score.Compute(Input({0, 0, 50}, 3)).value()[0], 1 / (3 + std::exp(50) - 0.0), 1e-30);
}

// torchosr's test() in Openmax.py, transcribed: w = 1 - cdf(z), w[marks] = 1 with marks of 0 and 1, which are taken for
// rows: rows 0 and 1 of a batch are as if nothing had been removed, row 0 alone where all (two) classes have the mark
// 0.
TEST(OpenMax, LeavesTheFirstRowsOfABatchAloneAsTorchosrDoes) {
  OpenMaxSpec options = Euclidean();
  options.set_alpha(1000);
  options.set_rank_weight(1);
  options.set_cdf_of(OpenMaxSpec::LOGIT);
  MadeScore corrected(options);
  options.set_unrevised_of_batch(3);
  MadeScore released(options);
  for (MadeScore* score : {&corrected, &released}) ASSERT_TRUE(score->Fit(Input(kTrain, 2), kLabels).ok());
  const std::vector<float> same = {2, 1, 2, 1, 2, 1, 2, 1, 2, 1};
  const double revised = corrected.Compute(Input({2, 1}, 2)).value()[0];
  const double alone = 1 / (1 + std::exp(2.0) + std::exp(1.0));  // the unknown's logit is 0
  std::vector<double> scores = released.Compute(Input(same, 2)).value();
  for (int row = 0; row < 5; ++row) EXPECT_NEAR(scores[row], row % 3 == 0 ? alone : revised, 1e-14) << row;

  std::vector<float> train;
  for (int row = 0; row < 6; ++row) train.insert(train.end(), {kTrain[2 * row], kTrain[2 * row + 1], -1});
  for (MadeScore* score : {&corrected, &released}) ASSERT_TRUE(score->Fit(Input(train, 3), kLabels).ok());
  const std::vector<float> three = {2, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 0};
  const double revised_of_three = corrected.Compute(Input({2, 1, 0}, 3)).value()[0];
  scores = released.Compute(Input(three, 3)).value();
  for (int row = 0; row < 2; ++row) EXPECT_NEAR(scores[row], 1 / (2 + std::exp(2.0) + std::exp(1.0)), 1e-14) << row;
  // The last batch has one row, of which there is no row 1: PyTorch refuses both marks then.
  for (int row = 2; row < 4; ++row) EXPECT_NEAR(scores[row], revised_of_three, 1e-14) << row;
}

TEST(OpenMax, FitsExponentiatedDistributionsToTheLargestDistances) {
  OpenMaxSpec options = Euclidean();
  options.set_rank_weight(1);
  options.set_tail_distribution(OpenMaxSpec::EXPONENTIATED_WEIBULL);
  MadeScore score(options);
  ASSERT_TRUE(score.Fit(Input(kTrain, 2), kLabels).ok());
  const double removed0 = 4 * FitExponentiatedWeibull({2, 3}).Cdf(2),
               removed1 = 2 * FitExponentiatedWeibull({1, 1.5}).Cdf(4);
  const double unknown = std::exp(removed0 + removed1);
  EXPECT_NEAR(score.Compute(Input({4, 2}, 2)).value()[0],
              unknown / (unknown + std::exp(4 - removed0) + std::exp(2 - removed1)), 1e-14);
  // As many samples as the tail has: no distribution.
  options.set_tail(3);
  MadeScore none(options);
  ASSERT_TRUE(none.Fit(Input(kTrain, 2), kLabels).ok());
  EXPECT_NEAR(none.Compute(Input({4, 2}, 2)).value()[0], 1 / (1 + std::exp(4.0) + std::exp(2.0)), 1e-14);
}

// Logits of length one, as torchosr has them; nothing is removed of negative ones, which lie below all distances. With
// two and three classes no class's probability reaches its epsilon then: every sample is rejected, by construction.
TEST(OpenMax, RejectsAllOfTwoAndThreeClassesAsReleased) {
  for (const auto& [k, epsilon, largest] : {std::tuple(2, 0.6, 0.5996), std::tuple(3, 0.5, 0.4993)}) {
    double most = 0;
    // The sphere's points by two angles, and shares that are removed of each logit: none, a half, all.
    for (int a = 0; a < 360; ++a) {
      for (int b = k == 2 ? 0 : -90; b <= (k == 2 ? 0 : 90); b += 2) {
        const double phi = a * M_PI / 180, theta = b * M_PI / 180;
        std::vector<double> z = {std::cos(theta) * std::cos(phi), std::cos(theta) * std::sin(phi)};
        if (k == 3) z.push_back(std::sin(theta));
        for (int shares = 0; shares < std::pow(3, k); ++shares) {
          std::vector<double> removed;
          for (int c = 0, rest = shares; c < k; ++c, rest /= 3) removed.push_back(std::max(z[c], 0.0) * (rest % 3) / 2);
          const std::vector<double> p = OpenMaxProbabilities(z, removed);
          most = std::max(most, *std::max_element(p.begin(), p.end() - 1));
        }
      }
    }
    EXPECT_LT(most, epsilon) << k;
    EXPECT_NEAR(most, largest, 5e-4) << k;
  }
}

TEST(OpenMax, RefusesInvalidFitInput) {
  MadeScore score(Euclidean());
  EXPECT_THAT(score.Fit(Input(kTrain, 2), {0, 0, 0, 1, 0, 0}).message(),
              HasSubstr("the 1 correctly classified training samples of class 1: a tail needs at least 2 values"));
  EXPECT_THAT(score.Fit(Input({2, 0, 4, 0, 0, 1, 0, 2}, 2), {0, 0, 1, 1}).message(), HasSubstr("are equal"));
  EXPECT_THAT(score.Fit(Input(kTrain, 2), {0}).message(), HasSubstr("1 labels for 6 samples"));
  ASSERT_TRUE(score.Fit(Input(kTrain, 2), kLabels).ok());
  EXPECT_THAT(score.Compute(Input({1, 2, 3}, 3)).status().message(), HasSubstr("fitted to 2 outputs; these have 3"));
  EXPECT_THAT(score.Compute(Input({1, 2, INFINITY, 3}, 2)).status().message(), HasSubstr("infinite in row 1"));
}

// Their softmax has the score as its last entry.
TEST(OpenMax, ItsProbabilitiesAreTheRevisedOnes) {
  MadeScore score(Euclidean());
  ASSERT_TRUE(score.Fit(Input(kTrain, 2), kLabels).ok());
  EXPECT_EQ(MadeScore(Euclidean()).Probabilities(Input({1, 2}, 2)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const ProbabilityLogits own = *score.Probabilities(Input({3, 1, 0.5, 2}, 2)).value();
  ASSERT_EQ(own.num_outputs, 3);
  ASSERT_EQ(own.logits.size(), 6);
  const std::vector<double> expected = score.Compute(Input({3, 1, 0.5, 2}, 2)).value();
  for (int row = 0; row < 2; ++row) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += std::exp(own.logits[3 * row + c]);
    EXPECT_NEAR(std::exp(own.logits[3 * row + 2]) / sum, expected[row], 1e-6);
  }
}

}  // namespace
}  // namespace openset
