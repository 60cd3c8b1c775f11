#include "eval/scores/nac_counts.h"

#include <algorithm>
#include <cmath>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// u = 1, sqrt(1000): log_1000 u = 0, 1/2. The last but one is 1 - 0 + 0.01.
TEST(NacThresholds, LieCloserTowardsOneHalf) {
  EXPECT_THAT(NacThresholds(4), ElementsAre(0, DoubleNear(0.5, 1e-12), DoubleNear(1.01, 1e-12), 1.2));
  const std::vector<double> many = NacThresholds(50);
  EXPECT_EQ(many.size(), 50);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end()));
  EXPECT_GT(many[1] - many[0], many[24] - many[23]);
}

TEST(NacInterval, HasItsLowerBound) {
  const std::vector<double> thresholds = {0, 0.5, 1.01, 1.2};
  EXPECT_EQ(NacInterval(thresholds, 0), 0);
  EXPECT_EQ(NacInterval(thresholds, 0.499), 0);
  EXPECT_EQ(NacInterval(thresholds, 0.5), 1);
  EXPECT_EQ(NacInterval(thresholds, 1), 1);
}

TEST(NacCountedRows, AreAsManyOfEachClass) {
  const std::vector<int32_t> labels = {0, 0, 0, 0, 2, 2, 2, 0};
  const std::vector<bool> two = NacCountedRows(labels, 3, 5);
  EXPECT_EQ(std::count(two.begin(), two.end(), true), 4);
  EXPECT_EQ(std::count(two.begin() + 4, two.begin() + 7, true), 2);
  const std::vector<bool> most = NacCountedRows(labels, 3, 1000);
  EXPECT_EQ(std::count(most.begin(), most.end(), true), 6);  // the smaller class has three
  const std::vector<bool> all = NacCountedRows(labels, 3, 0);
  EXPECT_EQ(std::count(all.begin(), all.end(), true), 8);
}

}  // namespace
}  // namespace openset
