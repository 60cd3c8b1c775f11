#include "eval/statistics/distributions.h"

#include <cmath>
#include <limits>

#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

double Value(const testing::GoldenCase& golden) {
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
  for (const testing::GoldenCase& golden : testing::ReadGolden("statistics.json", "distributions")) {
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

}  // namespace
}  // namespace openset
