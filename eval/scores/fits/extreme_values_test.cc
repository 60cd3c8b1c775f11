#include "eval/scores/fits/extreme_values.h"

#include <cmath>
#include <limits>

#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

TEST(NelderMead, FindsTheMinimumOfASquare) {
  const std::vector<double> x = NelderMead(
      [](const std::vector<double>& p) { return (p[0] - 3) * (p[0] - 3) + 10 * (p[1] + 1) * (p[1] + 1); }, {0, 0});
  EXPECT_NEAR(x[0], 3, 1e-3);
  EXPECT_NEAR(x[1], -1, 1e-3);
}

// scipy.optimize.fmin(lambda p: 100 * (p[1] - p[0]**2)**2 + (1 - p[0])**2, [-1.2, 1]) of SciPy 1.17.1: a tolerance of
// 1e-4 leaves an error, and it is this one.
TEST(NelderMead, EndsAtScipysPoint) {
  const std::vector<double> x = NelderMead(
      [](const std::vector<double>& p) { return 100 * std::pow(p[1] - p[0] * p[0], 2) + std::pow(1 - p[0], 2); },
      {-1.2, 1});
  EXPECT_NEAR(x[0], 1.0000220217835696, 1e-12);
  EXPECT_NEAR(x[1], 1.0000422197517715, 1e-12);
}

TEST(NelderMead, AvoidsInfiniteValues) {
  const std::vector<double> x = NelderMead(
      [](const std::vector<double>& p) { return p[0] < 2 ? std::numeric_limits<double>::infinity() : p[0]; }, {10});
  EXPECT_GE(x[0], 2);
  EXPECT_NEAR(x[0], 2, 1e-3);
}

// Falls for ever: it stops after 200 evaluations.
TEST(NelderMead, Stops) {
  int evaluations = 0;
  NelderMead(
      [&evaluations](const std::vector<double>& p) {
        ++evaluations;
        return -p[0];
      },
      {1});
  EXPECT_GE(evaluations, 200);
  EXPECT_LE(evaluations, 202);
}

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

TEST(Weibull, FitsGoldenTails) {
  for (const GoldenCase& golden : ReadGolden("openmax.json", "weibull")) {
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

TEST(ExponentiatedWeibull, IsAPowerOfWeibulls) {
  const ExponentiatedWeibull distribution = {2, 3, 1, 2};
  EXPECT_EQ(distribution.Cdf(1), 0);
  EXPECT_EQ(distribution.Cdf(-5), 0);
  EXPECT_DOUBLE_EQ(distribution.Cdf(3), std::pow(1 - std::exp(-1.0), 2));
}

// scipy.stats.exponweib.fit(values, loc=0, scale=0.2) and .cdf of SciPy 1.17.1; the searches end after 800 evaluations.
TEST(ExponentiatedWeibull, IsFittedAsScipyFitsIt) {
  const ExponentiatedWeibull narrow =
      FitExponentiatedWeibull({0.2722, 0.299,  0.3472, 0.3567, 0.3666, 0.3716, 0.3774, 0.3805, 0.3824, 0.3859,
                               0.3881, 0.3884, 0.3892, 0.39,   0.4113, 0.4209, 0.4241, 0.4479, 0.502,  0.5661});
  EXPECT_NEAR(narrow.a, 28.79499919092128, 1e-6);
  EXPECT_NEAR(narrow.c, 2.6640424018237896, 1e-7);
  EXPECT_NEAR(narrow.location, -0.12669595114589838, 1e-7);
  EXPECT_NEAR(narrow.scale, 0.3141031099846181, 1e-7);
  EXPECT_EQ(narrow.Cdf(-0.3), 0);
  EXPECT_NEAR(narrow.Cdf(0.2), 1.0057919324663249e-05, 1e-9);
  EXPECT_NEAR(narrow.Cdf(0.5), 0.9483280558826639, 1e-8);
  // The least value lies at the border of the support.
  const ExponentiatedWeibull wide =
      FitExponentiatedWeibull({0.1006, 0.1121, 0.1341, 0.2484, 0.3125, 0.3191, 0.3269, 0.3451, 0.4073, 0.4275,
                               0.4484, 0.5622, 0.5635, 0.5741, 0.601,  0.6648, 0.7007, 0.7064, 0.8637, 0.9805});
  EXPECT_NEAR(wide.Cdf(0.2), 0.2243408519414165, 1e-6);
  EXPECT_NEAR(wide.Cdf(0.5), 0.659055487072312, 1e-6);
  EXPECT_NEAR(wide.Cdf(0.9), 0.9689183754405304, 1e-6);
}

}  // namespace
}  // namespace openset
