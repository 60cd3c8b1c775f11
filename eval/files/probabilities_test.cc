#include "eval/files/probabilities.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(AreProbabilities, EachRowSumsToOne) {
  const std::vector<float> rows = {0.25f, 0.75f, 0, 0.5f, 0.2f, 0.3f};
  EXPECT_TRUE(AreProbabilities(rows, 3));
  EXPECT_TRUE(AreProbabilities({0.25f, 0.75005f}, 2));    // 5e-5 above 1
  EXPECT_FALSE(AreProbabilities({0.25f, 0.7502f}, 2));    // 2e-4 above
  EXPECT_FALSE(AreProbabilities({-0.25f, 1.25f}, 2));     // sums to 1, but one is negative
  EXPECT_FALSE(AreProbabilities(rows, 2));                // {0.25, 0.75}, {0, 0.5}
  EXPECT_FALSE(AreProbabilities({0, 1, 0.5f, 3.5f}, 2));  // the second row
}

TEST(AreProbabilities, RefusesLogits) {
  EXPECT_FALSE(AreProbabilities({}, 3));
  EXPECT_FALSE(AreProbabilities({1, 1}, 1));  // one output is not enough to tell
  EXPECT_FALSE(AreProbabilities({std::numeric_limits<float>::quiet_NaN(), 1}, 2));
  EXPECT_FALSE(AreProbabilities({-std::numeric_limits<float>::infinity(), 1}, 2));
}

}  // namespace
}  // namespace openset
