#include "eval/scores/fits/weibull.h"

#include <cmath>
#include <limits>

#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TEST(Weibull, FitsGoldenTails) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("openmax.json", "weibull")) {
    SCOPED_TRACE(golden.name);
    const WeibullTail tail =
        FitWeibullTail(golden.arrays.at("distances"), static_cast<int>(*golden.at("tail")), *golden.at("translate"))
            .value();
    // The golden values are themselves that far off: its data lie at 10000 + a little.
    EXPECT_NEAR(tail.shape / *golden.at("expected/shape"), 1, 1e-5);
    EXPECT_NEAR(tail.scale / *golden.at("expected/scale"), 1, 1e-9);
    const std::vector<double>& query = golden.arrays.at("expected/query");
    for (int i = 0; i < query.size(); ++i) {
      EXPECT_NEAR(tail.Cdf(query[i]), golden.arrays.at("expected/cdf")[i], 1e-5);
    }
  }
}

// For x = 1, e (u = -1, 0) the likeliest shape solves -1 / (1 + e^k) + 1/2 = 1/k, and scale^k = (1 + e^k) / 2.
TEST(Weibull, SolvesTheLikelihoodEquationOfTwoValues) {
  const WeibullTail tail = FitWeibullTail({5, 5 + std::exp(1) - 1, 0}, 2, 1).value();  // 0 is not of the tail
  EXPECT_NEAR(0.5 - 1 / (1 + std::exp(tail.shape)), 1 / tail.shape, 1e-14);
  EXPECT_NEAR(std::pow(tail.scale, tail.shape), (1 + std::exp(tail.shape)) / 2, 1e-13);
  EXPECT_EQ(tail.shift, 1 - 5);
  EXPECT_NEAR(tail.Cdf(4 + tail.scale), 1 - std::exp(-1), 1e-14);
  EXPECT_EQ(tail.Cdf(4), 0);
  EXPECT_EQ(tail.Cdf(-1e9), 0);
  EXPECT_EQ(tail.Cdf(1e9), 1);
}

TEST(Weibull, MovesWithTheValues) {
  const std::vector<double> values = {1, 1.5, 2.25, 4, 4.5};
  std::vector<double> moved;
  for (const double value : values) moved.push_back(value + 8);
  const WeibullTail tail = FitWeibullTail(values, 4, 10000).value();
  const WeibullTail tail_moved = FitWeibullTail(moved, 4, 10000).value();
  for (const double x : {0.0, 2.0, 5.0}) EXPECT_DOUBLE_EQ(tail.Cdf(x), tail_moved.Cdf(x + 8));
}

TEST(Weibull, RefusesTailsWithoutALikeliestShape) {
  EXPECT_THAT(FitWeibullTail({1}, 20, 1).status().message(), HasSubstr("at least 2 values (has 1)"));
  EXPECT_THAT(FitWeibullTail({1, 2, 2}, 2, 1).status().message(), HasSubstr("all 2 values are equal"));
  EXPECT_THAT(FitWeibullTail({1, std::numeric_limits<double>::infinity()}, 2, 1).status().message(),
              HasSubstr("not finite"));
}

}  // namespace
}  // namespace openset
