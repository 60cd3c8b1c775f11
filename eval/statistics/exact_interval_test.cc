#include "eval/statistics/exact_interval.h"

#include <cmath>

#include "eval/testing/golden.h"
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

TEST(IntervalAtTheEdge, HasAWidthWhereAllPairsAgree) {
  testing::Samples samples;
  samples.label = {0, 0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0};
  samples.unknown_score = {1, 2, 3, 4, 5};
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

}  // namespace
}  // namespace openset
