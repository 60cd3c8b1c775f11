#include "eval/scores/fits/generalized_pareto.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TEST(GeneralizedPareto, HasItsDistributionFunction) {
  const GeneralizedPareto heavy{1, 2, 3};  // 1 - 1 / (1 + (x - 2) / 3)
  EXPECT_EQ(heavy.Cdf(1), 0);
  EXPECT_EQ(heavy.Cdf(2), 0);
  EXPECT_DOUBLE_EQ(heavy.Cdf(5), 0.5);
  EXPECT_DOUBLE_EQ(heavy.Cdf(11), 0.75);
  const GeneralizedPareto exponential{0, 0, 2};
  EXPECT_DOUBLE_EQ(exponential.Cdf(2), 1 - std::exp(-1));
  const GeneralizedPareto uniform{-1, 10, 4};  // on [10, 14]
  EXPECT_DOUBLE_EQ(uniform.Cdf(11), 0.25);
  EXPECT_EQ(uniform.Cdf(14), 1);
  EXPECT_EQ(uniform.Cdf(20), 1);
}

// scipy.stats.genpareto.fit of SciPy 1.17.1. The third ends at a corner that is not the likeliest one, the fourth has
// values below 0, from where the location starts.
TEST(GeneralizedPareto, IsFittedAsByScipy) {
  struct Case {
    std::vector<double> values;
    GeneralizedPareto expected;
  };
  for (const Case& c :
       {Case{{0.117, 0.161, 0.315, 0.135, 0.265, 0.211, 0.106, 0.203, 0.175, 0.129, 0.123, 0.177},
             {-1.266243420752049, 0.007246905191241703, 0.3896903315176718}},
        Case{{1.258, 2.727, 1.709, 2.392, 3.377, 1.084, 4.546, 1.003, 5.296, 2.858},
             {-1.156351987627481, 0.004142309173999894, 6.119250159028418}},
        Case{{0.602, 0.662, 0.903, 0.658, 0.575, 0.849, 0.724, 0.899, 0.618, 0.66, 0.9, 0.754, 0.753, 0.618},
             {-2.54456263630389, 0.0019024803901780338, 2.2928990800652653}},
        Case{{-0.233, -0.256, 0.962, -1.181, 0.738, -1.099, -0.331, -0.84, 1.449, 0.568},
             {-1.1601452452280896, -1.1831057403455325, 3.053624959599431}}}) {
    std::vector<double> reversed(c.values.rbegin(), c.values.rend());
    for (const std::vector<double>& values : {c.values, reversed}) {
      const GeneralizedPareto fit = FitGeneralizedPareto(values).value();
      EXPECT_NEAR(fit.shape, c.expected.shape, 1e-9);
      EXPECT_NEAR(fit.location, c.expected.location, 1e-9);
      EXPECT_NEAR(fit.scale, c.expected.scale, 1e-9);
    }
  }
}

TEST(GeneralizedPareto, RefusesTooFewValues) {
  EXPECT_THAT(FitGeneralizedPareto({}).status().message(), HasSubstr("at least 2 values, there are none"));
  EXPECT_THAT(FitGeneralizedPareto({1}).status().message(), HasSubstr("there is 1"));
  EXPECT_THAT(FitGeneralizedPareto({1, std::numeric_limits<double>::infinity()}).status().message(),
              HasSubstr("finite"));
}

}  // namespace
}  // namespace openset
