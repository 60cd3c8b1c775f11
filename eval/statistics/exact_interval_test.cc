#include "eval/statistics/exact_interval.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "eval/metrics/conventions.h"
#include "eval/metrics/metric_table.h"
#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ClopperPearson, AgreesWithGoldenValues) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "clopper_pearson")) {
    const auto k = static_cast<int64_t>(*golden.at("k"));
    const auto n = static_cast<int64_t>(*golden.at("n"));
    const ExactInterval interval = ClopperPearson(k, n, *golden.at("confidence"));
    EXPECT_NEAR(interval.low, *golden.at("low"), 1e-12) << k << " of " << n;
    EXPECT_NEAR(interval.high, *golden.at("high"), 1e-12) << k << " of " << n;
  }
}

TEST(ClopperPearson, OneSidedBoundLeavesDeltaBelow) {
  // None of 59 at 5 %: 1 - 0.05^(1/59), the rule of three.
  EXPECT_NEAR(ClopperPearsonUpper(0, 59, 0.05), 1 - std::pow(0.05, 1.0 / 59), 1e-13);
  EXPECT_EQ(ClopperPearsonUpper(7, 7, 0.05), 1);
  EXPECT_NEAR(ClopperPearsonUpper(3, 40, 0.025), ClopperPearson(3, 40, 0.95).high, 1e-13);
}

// Three known samples, all correct, and two unknown ones, all told apart.
testing::Samples FiveSamples() {
  testing::Samples samples;
  samples.label = {0, 0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0};
  samples.unknown_score = {1, 2, 3, 4, 5};
  return samples;
}

TEST(IntervalAtTheEdge, HasAWidthWhereAllPairsAgree) {
  const testing::Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  MetricSpec metric;
  metric.mutable_auroc();
  // Two unknown samples: two independent pairs, both won. 0.025^(1/2).
  EXPECT_NEAR(IntervalAtTheEdge(metric, ranked, 1, 0.95)->low, std::sqrt(0.025), 1e-13);
  EXPECT_EQ(IntervalAtTheEdge(metric, ranked, 1, 0.95)->high, 1);
  metric.mutable_accuracy();
  EXPECT_NEAR(IntervalAtTheEdge(metric, ranked, 1, 0.95)->low, std::cbrt(0.025), 1e-13);
  EXPECT_FALSE(IntervalAtTheEdge(metric, ranked, 0.5, 0.95).has_value());
  metric.mutable_nll();
  EXPECT_FALSE(IntervalAtTheEdge(metric, ranked, 0, 0.95).has_value());
}

// Values of 0 or 1 from so few samples are uncertain, for each metric that is a share.
TEST(IntervalAtTheEdge, NoShareOfFewSamplesIsCertain) {
  const testing::Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  std::map<std::string, double> width;
  for (const MetricSpec& metric : AllMetrics()) {
    const MetricResult result = ComputeMetric(metric, ranked);
    const std::optional<ExactInterval> interval =
        result.value.has_value() ? IntervalAtTheEdge(metric, ranked, *result.value, 0.95) : std::nullopt;
    if (interval.has_value()) width[MetricName(metric)] = interval->high - interval->low;
  }
  const auto of = [](double trials) { return 1 - std::pow(0.025, 1 / trials); };
  using ::testing::DoubleNear;
  using ::testing::Pair;
  using ::testing::UnorderedElementsAre;
  EXPECT_THAT(width,
              UnorderedElementsAre(
                  Pair("accuracy", DoubleNear(of(3), 1e-12)), Pair("auroc", DoubleNear(of(2), 1e-12)),
                  Pair("fpr_at_95tpr", DoubleNear(of(2), 1e-12)),
                  Pair("fpr_at_95tpr_unknown_positive", DoubleNear(of(3), 1e-12)),
                  Pair("error_at_95tpr", DoubleNear(of(2), 1e-12)), Pair("detection_error", DoubleNear(of(2), 1e-12)),
                  Pair("openauc", DoubleNear(of(2), 1e-12)), Pair("openauc_strict", DoubleNear(of(2), 1e-12)),
                  Pair("oscr", DoubleNear(of(2), 1e-12)), Pair("fpr_at_0.95tpr", DoubleNear(of(2), 1e-12)),
                  Pair("ccr_at_0.1fpr", DoubleNear(of(3), 1e-12)),
                  Pair("risk_at_0.8coverage", DoubleNear(of(3), 1e-12)),  // of 2.4 samples
                  Pair("open_set_accuracy", DoubleNear(of(5), 1e-12))));
}

// 0.55 * 100 is 55.00000000000001 in double precision, and means 55 of the 100 samples, as in the metric itself; a
// coverage of less than a sample means one.
TEST(IntervalAtTheEdge, CountsTheSamplesOfTheMetric) {
  testing::Samples samples;
  samples.label.assign(100, 0);
  samples.prediction.assign(100, 0);
  samples.unknown_score.assign(100, 1);
  const RankedInput ranked(samples.Input());
  MetricSpec metric;
  for (const auto& [coverage, trials] : {std::pair(0.55, 55.0), {0.001, 1.0}, {1.0, 100.0}}) {
    metric.mutable_risk_at_coverage()->set_coverage(coverage);
    EXPECT_NEAR(IntervalAtTheEdge(metric, ranked, 0, 0.95)->high, 1 - std::pow(0.025, 1 / trials), 1e-12);
  }
}

}  // namespace
}  // namespace openset
