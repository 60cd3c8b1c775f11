#include "core/random.h"

#include <algorithm>
#include <cmath>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(RandomStream, IsNamedBySeedAndText) {
  EXPECT_EQ(RandomStream(1, "a").Bits(), RandomStream(1, "a").Bits());
  EXPECT_NE(RandomStream(1, "a").Bits(), RandomStream(1, "b").Bits());
  EXPECT_NE(RandomStream(1, "a").Bits(), RandomStream(2, "a").Bits());
  EXPECT_NE(RandomStream(1, "1/a").Bits(), RandomStream(11, "a").Bits());
}

// Computed by a second implementation (Python, hashlib and plain integers) of the generator in the header.
TEST(RandomStream, GivesTheNumbersOfAnIndependentImplementation) {
  RandomStream stream(7, "golden");
  EXPECT_EQ(stream.Bits(), 5589019473557597647u);
  EXPECT_EQ(stream.Bits(), 2223477547068037875u);
  EXPECT_EQ(stream.Bits(), 11641281542187926260u);
  EXPECT_THAT(RandomStream(7, "order").Permutation(8), ElementsAre(7, 3, 5, 0, 6, 2, 4, 1));
}

TEST(RandomStream, GoesOnFromAStateThatIsSet) {
  RandomStream stream(7, "golden"), other(8, "other");
  stream.Normal();
  other.set_state(stream.state());
  EXPECT_EQ(other.state(), stream.state());
  for (int draw = 0; draw < 10; ++draw) EXPECT_EQ(other.Gamma(0.5), stream.Gamma(0.5));
  EXPECT_EQ(other.Permutation(20), stream.Permutation(20));
}

TEST(RandomStream, BelowIsUniform) {
  // n = 70,000 draws over 7 cells; chi-square with 6 degrees of freedom exceeds 40 with probability 5e-7.
  RandomStream stream(3, "below");
  std::vector<double> count(7);
  for (int i = 0; i < 70000; ++i) ++count[stream.Below(7)];
  double chi2 = 0;
  for (double c : count) chi2 += (c - 10000) * (c - 10000) / 10000;
  EXPECT_LT(chi2, 40);
}

// The mean of n draws of a variable with standard deviation s is within 5 s / sqrt(n) of its expectation, except with
// probability 6e-7.
constexpr int kDraws = 100000;

TEST(RandomStream, MomentsOfTheReals) {
  RandomStream stream(5, "moments");
  double uniform = 0, normal = 0, square = 0, gamma = 0, small_gamma = 0, beta = 0;
  for (int i = 0; i < kDraws; ++i) {
    uniform += stream.Uniform();
    const double z = stream.Normal();
    normal += z;
    square += z * z;
    gamma += stream.Gamma(3);
    small_gamma += stream.Gamma(0.5);
    beta += stream.Beta(2, 3);
  }
  const double margin = 5 / std::sqrt(kDraws);
  EXPECT_NEAR(uniform / kDraws, 0.5, margin * std::sqrt(1.0 / 12));
  EXPECT_NEAR(normal / kDraws, 0, margin);
  EXPECT_NEAR(square / kDraws, 1, margin * std::sqrt(2));
  EXPECT_NEAR(gamma / kDraws, 3, margin * std::sqrt(3));
  EXPECT_NEAR(small_gamma / kDraws, 0.5, margin * std::sqrt(0.5));
  // Beta(a, b): mean a / (a + b), variance ab / ((a + b)^2 (a + b + 1)).
  EXPECT_NEAR(beta / kDraws, 0.4, margin * std::sqrt(6.0 / 25 / 6));
}

TEST(RandomStream, BetaIsAShareOfTwoGammas) {
  RandomStream stream(5, "beta"), same(5, "beta");
  for (int i = 0; i < 1000; ++i) {
    const double x = same.Gamma(2), y = same.Gamma(3);
    EXPECT_EQ(stream.Beta(2, 3), x / (x + y));
  }
}

// Gamma(0.001) is below the smallest double, about e^-745, with probability near 1 - e^-0.745 = 0.53, so that 0.28 of
// all draws are shares of two zeros. Beta(a, a) has mean 1/2 and variance 1 / (8 a + 4); n = 10,000, and the mean is
// outside of the margin of 5 s / sqrt(n) with probability 6e-7.
TEST(RandomStream, BetaOfSmallShapesIsAShareToo) {
  for (const double shape : {1e-3, 1e-300, 5e-324}) {
    RandomStream stream(6, "beta"), same(6, "beta");
    double sum = 0, zeros = 0;
    for (int i = 0; i < 10000; ++i) {
      const double share = stream.Beta(shape, shape);
      EXPECT_TRUE(share >= 0 && share <= 1) << share;
      sum += share;
      const double x = same.Gamma(shape), y = same.Gamma(shape);
      zeros += x + y == 0;
    }
    EXPECT_NEAR(sum / 10000, 0.5, 5 * std::sqrt(1 / (8 * shape + 4) / 10000)) << shape;
    EXPECT_GT(zeros, 2000);
    EXPECT_EQ(stream.state(), same.state());  // it takes as many random bits as the two Gammas
  }
}

TEST(RandomStream, PermutationHoldsEachIndexOnce) {
  std::vector<int64_t> order = RandomStream(1, "p").Permutation(1000);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
  EXPECT_TRUE(RandomStream(1, "p").Permutation(0).empty());
}

TEST(RandomStream, EveryPlaceIsEquallyLikely) {
  // n = 60,000 orders of 3 items: 6 cells of 10,000; chi-square with 5 degrees of freedom exceeds 38 with p = 4e-7.
  RandomStream stream(9, "orders");
  std::vector<double> count(9 * 3);
  for (int i = 0; i < 60000; ++i) {
    const std::vector<int64_t> order = stream.Permutation(3);
    ++count[order[0] * 3 + order[1]];
  }
  double chi2 = 0;
  for (int first = 0; first < 3; ++first) {
    for (int second = 0; second < 3; ++second) {
      if (first == second) continue;
      const double c = count[first * 3 + second];
      chi2 += (c - 10000) * (c - 10000) / 10000;
    }
  }
  EXPECT_LT(chi2, 38);
}

}  // namespace
}  // namespace openset
