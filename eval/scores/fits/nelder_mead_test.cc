#include "eval/scores/fits/nelder_mead.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

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

}  // namespace
}  // namespace openset
