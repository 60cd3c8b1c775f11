#include "eval/scores/fits/exponentiated_weibull.h"

#include <cmath>

#include "gtest/gtest.h"

namespace openset {
namespace {

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
