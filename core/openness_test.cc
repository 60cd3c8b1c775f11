#include "core/openness.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Openness, FollowsItsFormula) {
  EXPECT_EQ(Openness(6, 0), 0);
  EXPECT_DOUBLE_EQ(Openness(6, 4), 1 - std::sqrt(12.0 / 16));
  EXPECT_DOUBLE_EQ(Openness(2, 12), 1 - 0.5);  // sqrt(4 / 16)
}

// The five levels of the class-imbalance paper's Table 1, in three digits.
TEST(Openness, IsThatOfTheClassImbalancePaper) {
  EXPECT_NEAR(Openness(7, 5), 0.142, 5e-4);
  EXPECT_NEAR(Openness(4, 3), 0.147, 5e-4);
  EXPECT_NEAR(Openness(7, 8), 0.202, 5e-4);
  EXPECT_NEAR(Openness(7, 9), 0.220, 5e-4);
  EXPECT_NEAR(Openness(2, 8), 0.423, 5e-4);
}

}  // namespace
}  // namespace openset
