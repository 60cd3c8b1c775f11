#include "eval/statistics/power.h"

#include <cmath>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace openset {
namespace {

// statsmodels 0.15.0: TTestPower().power(effect, n, level), whose ratio is effect * sqrt(n).
TEST(PairedPower, IsThatOfStatsmodels) {
  EXPECT_NEAR(PairedPower(std::sqrt(5.0), 5, 0.05), 0.4013899173717948, 1e-9);
  EXPECT_NEAR(PairedPower(0.5 * std::sqrt(10.0), 10, 0.01), 0.1026975095395999, 1e-9);
  EXPECT_NEAR(PairedPower(0, 4, 0.05), 0.05, 1e-12);  // without a difference, the level
}

// The roots of the power by SciPy's quad over the chi distribution of the standard deviation (scipy.stats.chi and
// norm). statsmodels' solve_power() agrees to 0.2 %; its tails are less accurate.
TEST(DetectableRatio, IsThatOfNumericalIntegration) {
  struct Case {
    int n;
    double level, ratio;
  };
  for (const Case& c : {Case{3, 0.05, 5.653489266197128}, Case{5, 0.05, 3.7610595538250196},
                        Case{10, 0.05, 3.149632886450618}, Case{5, 0.00625, 6.655548293953645},
                        Case{20, 0.01, 3.7496399639901603}, Case{3, 0.00625, 16.040917207565464}}) {
    EXPECT_NEAR(DetectableRatio(c.n, c.level), c.ratio, 1e-9 * c.ratio) << c.n << " " << c.level;
  }
}

// The ratios of 5 replicates at 0.05 / 8 and of 3 at 0.05 / 8, above. Of two tests, the one whose p-value is tiny has
// the same level as the other one.
TEST(DetectableDifferences, IsAtTheFirstOfHolmsLevelsForAll) {
  std::vector<PairedTest> tests(8);
  for (PairedTest& test : tests) test.replicates = 5;
  tests[0].standard_error = 2;
  tests[0].p_value = 1e-9;
  tests[1].standard_error = 0.5;
  tests[1].p_value = 0.5;
  tests[2].replicates = 3;
  tests[2].standard_error = 1;
  const std::vector<std::optional<double>> detectable = DetectableDifferences(tests, 0.05);
  ASSERT_EQ(detectable.size(), 8);
  EXPECT_NEAR(*detectable[0], 2 * 6.655548293953645, 1e-8);
  EXPECT_NEAR(*detectable[1], 0.5 * 6.655548293953645, 1e-8);
  EXPECT_NEAR(*detectable[2], 16.040917207565464, 1e-7);
  EXPECT_FALSE(detectable[3].has_value());  // it does not vary
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
