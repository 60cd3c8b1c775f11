#include "eval/statistics/mid_ranks.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TEST(MidRanks, AveragesTiesAndCountsTheirCubes) {
  const MidRanks ranks = MidRanksOf({3.0, 1.0, 3.0, 2.0, 3.0});
  EXPECT_THAT(ranks.rank, ElementsAre(4, 1, 4, 2, 4));
  EXPECT_EQ(ranks.tie_cubes, 27 - 3);
  EXPECT_TRUE(MidRanksOf({}).rank.empty());
}

}  // namespace
}  // namespace openset
