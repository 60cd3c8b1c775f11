#include "eval/scores/fits/percentile.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Percentile, IsLinearBetweenValues) {
  const std::vector<float> values = {5, 1, 4, 2};
  EXPECT_EQ(Percentile(values, 0), 1);
  EXPECT_EQ(Percentile(values, 100), 5);
  EXPECT_DOUBLE_EQ(Percentile(values, 50), 3);            // position 1.5
  EXPECT_DOUBLE_EQ(Percentile(values, 90), 4 + 0.7 * 1);  // position 2.7
  EXPECT_EQ(Percentile(std::vector<double>{3}, 90), 3);
  EXPECT_EQ(Percentile(std::vector<double>{2, 2, 2}, 10), 2);
}

}  // namespace
}  // namespace openset
