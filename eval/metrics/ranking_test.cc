#include "eval/metrics/ranking.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TEST(Ranking, GroupsEqualScoresInTheOrderOfTheInput) {
  const std::vector<double> score = {0.3, -1, 0.3, 2, -1};
  const Ranking ranking(score);
  EXPECT_EQ(ranking.num_samples(), 5);
  ASSERT_EQ(ranking.num_blocks(), 3);
  EXPECT_THAT(ranking.order(), ElementsAre(1, 4, 0, 2, 3));
  EXPECT_THAT(ranking.Block(0), ElementsAre(1, 4));
  EXPECT_THAT(ranking.Block(1), ElementsAre(0, 2));
  EXPECT_THAT(ranking.Block(2), ElementsAre(3));
  EXPECT_EQ(ranking.Score(1), 0.3);
}

TEST(Ranking, ComparesExactly) {
  const std::vector<double> score = {1e12 + 0.0001220703125, 1e12};  // two neighbouring doubles
  EXPECT_EQ(Ranking(score).num_blocks(), 2);
}

}  // namespace
}  // namespace openset
