#include "eval/statistics/intervals.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/testing/status_matchers.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

double Value(const GoldenCase& golden) {
  const double x = *golden.at("x");
  const double df = golden.numbers.count("df") > 0 ? *golden.at("df") : 0;
  if (golden.name == "normal_cdf") return NormalCdf(x);
  if (golden.name == "normal_quantile") return NormalQuantile(x);
  if (golden.name == "student_tail") return StudentTTwoSidedTail(x, df);
  if (golden.name == "student_quantile") return StudentTTwoSidedQuantile(x, df);
  if (golden.name == "chi_squared_tail") return ChiSquaredTail(x, df);
  if (golden.name == "range_tail") return NormalRangeTail(x, static_cast<int>(df));
  if (golden.name == "range_quantile") return NormalRangeQuantile(x, static_cast<int>(df));
  ADD_FAILURE() << golden.name;
  return 0;
}

TEST(Distributions, AgreeWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("statistics.json", "distributions")) {
    const double expected = *golden.at("value");
    // scipy integrates the studentized range to about 1e-10.
    const double tolerance = golden.name.rfind("range", 0) == 0 ? 1e-9 : 1e-12;
    EXPECT_NEAR(Value(golden), expected, tolerance * std::abs(expected)) << golden.name << ", " << *golden.at("x");
  }
}

TEST(Distributions, HaveTheirLimits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(NormalQuantile(0), -kInfinity);
  EXPECT_EQ(NormalQuantile(1), kInfinity);
  EXPECT_EQ(StudentTTwoSidedTail(kInfinity, 3), 0);
  // The range of two is the size of a normal difference with variance 2.
  EXPECT_NEAR(NormalRangeTail(1.3, 2), 2 * NormalCdf(-1.3 / std::sqrt(2.0)), 1e-13);
}

TEST(ClopperPearson, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("statistics.json", "clopper_pearson")) {
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

// Reference: Korn and Graubard's interval with scipy 1.17 (beta.ppf and t.isf).
TEST(ClusteredInterval, CountsWhatClustersAreWorth) {
  const ExactInterval mixed =
      ClusteredInterval({{2, 2}, {1, 3}, {0, 0}, {3, 3}, {0, 1}, {4, 4}, {1, 2}}, 0.95);  // one has no sample
  EXPECT_NEAR(mixed.low, 0.2728623765318258, 1e-12);
  EXPECT_NEAR(mixed.high, 0.977260174589224, 1e-12);
  const ExactInterval all = ClusteredInterval({{2, 2}, {3, 3}, {1, 1}, {2, 2}}, 0.95);  // as 4 of 4
  EXPECT_NEAR(all.low, ClopperPearson(4, 4, 0.95).low, 1e-13);
  EXPECT_EQ(all.high, 1);
  const ExactInterval single = ClusteredInterval({{1, 1}, {0, 1}, {1, 1}}, 0.95);
  EXPECT_EQ(single.low, ClopperPearson(2, 3, 0.95).low);
  const ExactInterval one = ClusteredInterval({{3, 4}}, 0.95);
  EXPECT_EQ(one.low, 0);
  EXPECT_EQ(one.high, 1);
  // Clusters that all have the same share say at most as much as their samples.
  const ExactInterval even = ClusteredInterval({{1, 2}, {1, 2}, {1, 2}}, 0.95);
  EXPECT_NEAR(even.low, ClopperPearson(3, 6, 0.95).low, 1e-13);
}

// Three known samples, all correct, and two unknown ones, all told apart.
Samples FiveSamples() {
  Samples samples;
  samples.label = {0, 0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0};
  samples.unknown_score = {1, 2, 3, 4, 5};
  return samples;
}

TEST(IntervalAtTheEdge, HasAWidthWhereAllPairsAgree) {
  const Samples samples = FiveSamples();
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
  const Samples samples = FiveSamples();
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
  Samples samples;
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

// Quantiles of N(mean, 1).
std::vector<double> Normal(double mean, int n) {
  std::vector<double> sorted;
  for (int i = 0; i < n; ++i) sorted.push_back(mean + NormalQuantile((i + 0.5) / n));
  return sorted;
}

TEST(IntervalOfReplicates, IntervalOfConfidenceOneMinusPEndsAtZero) {
  for (const double mean : {-1.7, -0.4, 0.3, 1.2, 2.1}) {
    for (const double acceleration : {-0.08, 0.0, 0.05}) {
      const std::vector<double> sorted = Normal(mean, 4000);
      const double estimate = mean + 0.05;  // a bias for BCa
      const auto at = [&](double confidence) {
        return IntervalOfReplicates(sorted, estimate, acceleration, IntervalMethod::kBca, confidence);
      };
      const double p = at(0.5).p_value;
      const ReplicateInterval ends = at(1 - p);
      EXPECT_NEAR(mean > 0 ? ends.low : ends.high, 0, 1e-9) << mean << ", " << acceleration;
    }
  }
}

// With 200 replicates the levels of 45 pairs (0.05 / 45) lie beyond the counted ones: both then use the normal tail.
TEST(IntervalOfReplicates, AdjustedIntervalsAgreeWithThePValue) {
  int rejected = 0, beyond = 0;
  for (const int n : {200, 4000}) {
    for (double mean = -4.5; mean < 4.6; mean += 0.05) {
      for (const double acceleration : {-0.08, 0.0, 0.05}) {
        for (const int tests : {1, 3, 45}) {
          const double level = 0.05 / tests;
          const ReplicateInterval interval =
              IntervalOfReplicates(Normal(mean, n), mean + 0.05, acceleration, IntervalMethod::kBca, 0.95, 1 - level);
          const bool leaves_out_zero = interval.adjusted_low > 0 || interval.adjusted_high < 0;
          EXPECT_EQ(leaves_out_zero, interval.p_value < level) << n << ", " << mean << ", " << tests;
          EXPECT_LE(interval.adjusted_low, interval.low + 1e-12);
          EXPECT_GE(interval.adjusted_high, interval.high - 1e-12);
          rejected += leaves_out_zero;
          beyond += !leaves_out_zero && (interval.low > 0 || interval.high < 0);
        }
      }
    }
  }
  EXPECT_GT(rejected, 100);
  EXPECT_GT(beyond, 100);  // different from 0 alone, but not among many
}

TEST(IntervalOfReplicates, PIsThatOfTheNormalDistributionForNormalReplicates) {
  for (const double mean : {0.5, 2.0, 3.0, 6.0, -9.0}) {
    const double p = IntervalOfReplicates(Normal(mean, 20000), mean, 0, IntervalMethod::kPercentile, 0.95).p_value;
    EXPECT_NEAR(std::log(p) / std::log(2 * NormalCdf(-std::abs(mean))), 1, 0.01) << mean;
  }
}

TEST(IntervalOfReplicates, CountsWhereZeroIsATie) {
  const std::vector<double> sorted = {-1, 0, 0, 0, 2};
  EXPECT_EQ(IntervalOfReplicates(sorted, 0, 0, IntervalMethod::kPercentile, 0.9).p_value, 1);
  EXPECT_EQ(IntervalOfReplicates(std::vector<double>(5, 0.0), 0, 0, IntervalMethod::kBca, 0.9).p_value, 1);
  EXPECT_NEAR(IntervalOfReplicates(std::vector<double>(9, 0.5), 0.5, 0, IntervalMethod::kBca, 0.9).p_value, 0.2, 1e-12);
}

TEST(IntervalOfReplicates, FallsBackWhereBcaLeavesOutTheEstimate) {
  // All replicates lie above the estimate: BCa's bias takes both ends to the lowest one.
  std::vector<double> sorted;
  for (int i = 0; i < 200; ++i) sorted.push_back(1 + i / 200.0);
  ReplicateInterval interval = IntervalOfReplicates(sorted, 0.9, 0, IntervalMethod::kBca, 0.95);
  EXPECT_EQ(interval.low, 0.9);
  EXPECT_NEAR(interval.high, SortedQuantile(sorted, 0.975), 1e-12);
  EXPECT_THAT(interval.note, HasSubstr("widened"));
  // A strong acceleration moves both ends above the estimate; the percentiles contain it.
  interval = IntervalOfReplicates(sorted, 1.03, 0, IntervalMethod::kBca, 0.95);
  EXPECT_LE(interval.low, 1.03);
  EXPECT_GE(interval.high, 1.03);
}

}  // namespace
}  // namespace openset
