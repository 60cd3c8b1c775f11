#include "eval/scores/activation_ratio.h"

#include <cmath>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(NumKept, RoundsHalvesToEvenAndKeepsOne) {
  EXPECT_EQ(NumKept(64, 85), 10);  // 64 - round(54.4)
  EXPECT_EQ(NumKept(10, 85), 2);   // 10 - round(8.5), 8
  EXPECT_EQ(NumKept(10, 75), 2);   // 10 - round(7.5), 8
  EXPECT_EQ(NumKept(8, 0), 8);
  EXPECT_EQ(NumKept(8, 100), 1);
}

TEST(ActivationRatio, IsAllOverTheLargest) {
  Eigen::VectorXd x(4);
  x << 1, 4, 2, 3;
  EXPECT_EQ(ActivationRatio(x, 1), 10.0 / 4);
  EXPECT_EQ(ActivationRatio(x, 2), 10.0 / 7);
  EXPECT_EQ(ActivationRatio(x, 4), 1);
  EXPECT_EQ(ActivationRatio(Eigen::VectorXd::Zero(3), 2), 0);
  EXPECT_TRUE(std::isnan(ActivationRatio(-x, 2)));
}

}  // namespace
}  // namespace openset
