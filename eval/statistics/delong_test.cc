#include "eval/statistics/delong.h"

#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

Samples Method(const GoldenCase& golden, const std::string& method) {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = golden.arrays.at("score_" + method);
  for (const double label : golden.arrays.at("label")) samples.label.push_back(static_cast<int32_t>(label));
  for (const double p : golden.arrays.at("prediction_" + method)) samples.prediction.push_back(static_cast<int32_t>(p));
  return samples;
}

TEST(DeLong, AgreesWithTheDefinition) {
  for (const GoldenCase& golden : ReadGolden("statistics.json", "delong")) {
    const Samples samples_a = Method(golden, "0");
    const Samples samples_b = Method(golden, "1");
    const RankedInput a(samples_a.Input());
    const RankedInput b(samples_b.Input());
    for (const PairStatistic statistic : {PairStatistic::kAuroc, PairStatistic::kOpenAuc}) {
      const std::string path = statistic == PairStatistic::kAuroc ? "auroc/" : "openauc/";
      SCOPED_TRACE(golden.name + ", " + path);
      const NormalInterval interval = DeLongInterval(a, statistic).value();
      EXPECT_NEAR(interval.value, *golden.at(path + "value_0"), 1e-12);
      EXPECT_NEAR(interval.standard_error, *golden.at(path + "se_0"), 1e-12);
      EXPECT_NEAR(interval.low, *golden.at(path + "logit_low"), 1e-12);
      EXPECT_NEAR(interval.high, *golden.at(path + "logit_high"), 1e-12);
      const DeLongComparison comparison = DeLongPaired(a, b, statistic).value();
      EXPECT_NEAR(comparison.value_b, *golden.at(path + "value_1"), 1e-12);
      EXPECT_NEAR(comparison.difference, comparison.value_a - comparison.value_b, 1e-15);
      EXPECT_NEAR(comparison.standard_error, *golden.at(path + "se_difference"), 1e-12);
      EXPECT_NEAR(comparison.p_value, *golden.at(path + "p"), 1e-12);
    }
  }
}

Samples FourSamples() {
  Samples samples;
  samples.label = {0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0};
  samples.unknown_score = {0.1, 0.3, 0.2, 0.4};
  return samples;
}

TEST(DeLong, FindsNoDifferenceBetweenAMethodAndItself) {
  const Samples samples = FourSamples();
  const RankedInput ranked(samples.Input());
  const DeLongComparison comparison = DeLongPaired(ranked, ranked, PairStatistic::kAuroc).value();
  EXPECT_EQ(comparison.difference, 0);
  EXPECT_EQ(comparison.standard_error, 0);
  EXPECT_EQ(comparison.p_value, 1);
}

TEST(DeLong, RefusesClusters) {
  Samples samples = FourSamples();
  samples.cluster = {1, 1, 2, 3};
  EXPECT_THAT(DeLongInterval(RankedInput(samples.Input()), PairStatistic::kAuroc).status().message(),
              HasSubstr("these are in clusters"));
}

TEST(DeLong, StaysWithinTheRangeOfTheMetric) {
  const Samples samples = FourSamples();
  // Means over pairs: known (1, 1/2), unknown (1/2, 1); variance 1/8 / 2 each; logit 3/4 -+ 1.96 * 0.354 / (3/16).
  const NormalInterval interval = DeLongInterval(RankedInput(samples.Input()), PairStatistic::kAuroc).value();
  EXPECT_NEAR(interval.standard_error, std::sqrt(1.0 / 8), 1e-15);
  const double width = 1.959963984540054 * std::sqrt(1.0 / 8) * 16 / 3;
  EXPECT_NEAR(interval.low, 1 / (1 + std::exp(width) / 3), 1e-12);
  EXPECT_NEAR(interval.high, 1 / (1 + std::exp(-width) / 3), 1e-12);
}

TEST(DeLong, HasAWidthWhereAllPairsAgree) {
  Samples samples = FourSamples();
  samples.unknown_score = {0.1, 0.2, 0.3, 0.4};
  const NormalInterval interval = DeLongInterval(RankedInput(samples.Input()), PairStatistic::kAuroc).value();
  EXPECT_EQ(interval.standard_error, 0);
  EXPECT_NEAR(interval.low, std::sqrt(0.025), 1e-12);  // two pairs of two, both won: Clopper-Pearson
  EXPECT_EQ(interval.high, 1);
  EXPECT_THAT(interval.note, HasSubstr("Clopper-Pearson"));
}

TEST(DeLong, RefusesScoresWithoutVariance) {
  Samples samples = FourSamples();
  samples.label[3] = 0;
  const absl::Status status = DeLongInterval(RankedInput(samples.Input()), PairStatistic::kAuroc).status();
  EXPECT_THAT(status, IsFailedPrecondition("there are 3 and 1"));
  const Samples other = FourSamples();
  EXPECT_EQ(
      DeLongPaired(RankedInput(samples.Input()), RankedInput(other.Input()), PairStatistic::kAuroc).status().code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DeLongInterval(RankedInput(other.Input()), PairStatistic::kAuroc, 1.5).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset
