#include "eval/statistics/power.h"

#include <cmath>

#include "gtest/gtest.h"

namespace openset {
namespace {

// statsmodels 0.15.0: TTestPower().power(effect, n, level), whose ratio is effect * sqrt(n).
TEST(PairedPower, IsThatOfStatsmodels) {
  EXPECT_NEAR(PairedPower(std::sqrt(5.0), 5, 0.05), 0.4013899173717948, 1e-9);
  EXPECT_NEAR(PairedPower(0.5 * std::sqrt(10.0), 10, 0.01), 0.1026975095395999, 1e-9);
  EXPECT_NEAR(PairedPower(0, 4, 0.05), 0.05, 1e-12);  // without a difference, the level
}

// solve_power(nobs=n, alpha=level, power=0.8), the effect.
TEST(DetectableRatio, IsThatOfStatsmodels) {
  struct Case {
    int n;
    double level, effect;
  };
  for (const Case& c :
       {Case{3, 0.05, 3.264043552819638}, Case{5, 0.05, 1.6819970833232674}, Case{10, 0.05, 0.9960019107624178},
        Case{5, 0.00625, 2.976452483424143}, Case{20, 0.01, 0.8384472461638419}, Case{3, 0.00625, 9.243861118366326}}) {
    EXPECT_NEAR(DetectableRatio(c.n, c.level), c.effect * std::sqrt(c.n), 1e-6 * c.effect) << c.n << " " << c.level;
  }
}

// solve_power(effect_size=effect, alpha=level, power=0.8) is 9.94, 33.37, 6.92 and 133.10.
TEST(ReplicatesToDetect, IsThatOfStatsmodelsRoundedUp) {
  EXPECT_EQ(ReplicatesToDetect(1, 0.05), 10);
  EXPECT_EQ(ReplicatesToDetect(0.5, 0.05), 34);
  EXPECT_EQ(ReplicatesToDetect(2, 0.00625), 7);
  EXPECT_EQ(ReplicatesToDetect(0.3, 0.01), 134);
}

// Splits that share samples never find a difference below a share of their common variance: the t quantiles' limits are
// 1.96 and 0.84, and 2.8 * sqrt(0.25) = 1.4 is above 1.
TEST(ReplicatesToDetect, MayBeNone) {
  EXPECT_EQ(ReplicatesToDetect(1, 0.05, 0.25), 0);
  EXPECT_EQ(ReplicatesToDetect(1e-6, 0.05), 0);
  EXPECT_GT(ReplicatesToDetect(2, 0.05, 0.25), ReplicatesToDetect(2, 0.05));
}

}  // namespace
}  // namespace openset
