#include "eval/statistics/replicate_interval.h"

#include <cmath>
#include <vector>

#include "eval/statistics/distributions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

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
