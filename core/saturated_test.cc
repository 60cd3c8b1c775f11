#include "core/saturated.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(SaturatedProduct, StaysAtTheLargestNumber) {
  EXPECT_EQ(SaturatedProduct(65536, 65536), 4294967296);
  EXPECT_EQ(SaturatedProduct(0, kMost), 0);
  EXPECT_EQ(SaturatedProduct(kMost, 1), kMost);
  EXPECT_EQ(SaturatedProduct(kMost, 2), kMost);
  EXPECT_EQ(SaturatedProduct(4294967296, 4294967296), kMost);
}

TEST(SaturatedSum, StaysAtTheLargestNumber) {
  EXPECT_EQ(SaturatedSum(1, 2), 3);
  EXPECT_EQ(SaturatedSum(kMost, 0), kMost);
  EXPECT_EQ(SaturatedSum(kMost, kMost), kMost);
}

}  // namespace
}  // namespace openset
