#include "eval/statistics/plausibility.h"

#include <map>
#include <utility>

#include "core/random.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Of 300 samples and 6 classes guessing has 50 right, with a standard deviation of 6.5.
TEST(IsNearChance, GuessingIs) {
  EXPECT_TRUE(IsNearChance(50, 300, 6));
  EXPECT_TRUE(IsNearChance(60, 300, 6));
  EXPECT_TRUE(IsNearChance(0, 300, 6));  // worse than guessing
  EXPECT_FALSE(IsNearChance(80, 300, 6));
  EXPECT_FALSE(IsNearChance(279, 300, 6));
  // 15 % of ten classes: the interval begins at 8.6 % for 100 samples, at 12.8 % for 1,000.
  EXPECT_TRUE(IsNearChance(15, 100, 10));
  EXPECT_FALSE(IsNearChance(150, 1000, 10));
}

TEST(IsNearChance, FewSamplesAreNoSign) {
  EXPECT_FALSE(IsNearChance(1, 4, 2));
  EXPECT_FALSE(IsNearChance(3, 4, 2));
  EXPECT_FALSE(IsNearChance(1, 2, 10));
  EXPECT_FALSE(IsNearChance(0, 300, 1));  // of one class all predictions are right, or there are none
}

// Three standard errors of 300 and 200 samples: 1.5 / sqrt(200) = 0.106.
TEST(IsBelowHalf, ByThreeStandardErrors) {
  EXPECT_FALSE(IsBelowHalf(0.395, 300, 200));
  EXPECT_TRUE(IsBelowHalf(0.393, 300, 200));
  EXPECT_TRUE(IsBelowHalf(0.393, 200, 300));
  EXPECT_FALSE(IsBelowHalf(0.607, 300, 200));
  EXPECT_FALSE(IsBelowHalf(0, 9, 9));
  EXPECT_TRUE(IsBelowHalf(0, 10, 10));
}

// Label 0 is called 1, 1 is called 2, 2 is called 0: 9 of 10 each; the tenth is called by its own number.
TEST(BetterOrder, FindsAPermutation) {
  const std::optional<ClassOrder> order =
      BetterOrder({{0, 1, 9}, {0, 0, 1}, {1, 2, 9}, {1, 1, 1}, {2, 0, 9}, {2, 2, 1}}, 3);
  ASSERT_TRUE(order.has_value());
  EXPECT_THAT(order->prediction_of, ElementsAre(1, 2, 0));
  EXPECT_DOUBLE_EQ(order->accuracy, 0.9);
  EXPECT_DOUBLE_EQ(order->plain_accuracy, 0.1);
}

TEST(BetterOrder, ClassesWithoutSamplesKeepTheirNumberWhereTheyCan) {
  const std::optional<ClassOrder> order = BetterOrder({{0, 1, 20}, {1, 0, 20}}, 4);
  ASSERT_TRUE(order.has_value());
  EXPECT_THAT(order->prediction_of, ElementsAre(1, 0, 2, 3));
  // 1 is taken by 0, and 2 has no samples: it gets what is left.
  const std::optional<ClassOrder> shifted = BetterOrder({{0, 1, 20}, {1, 2, 20}}, 3);
  ASSERT_TRUE(shifted.has_value());
  EXPECT_THAT(shifted->prediction_of, ElementsAre(1, 2, 0));
}

TEST(BetterOrder, NoneIfPredictionsFit) {
  EXPECT_FALSE(BetterOrder({{0, 0, 90}, {0, 1, 10}, {1, 1, 80}, {1, 0, 20}}, 2).has_value());
  EXPECT_FALSE(BetterOrder({}, 2).has_value());
  // Swapped, it gains 10 of 100 samples only.
  EXPECT_FALSE(BetterOrder({{0, 0, 22}, {0, 1, 28}, {1, 0, 27}, {1, 1, 23}}, 2).has_value());
}

// A network with random weights gives three classes three outputs of their own, each for 4 of 10 samples: beyond
// chance, and no other order of a trained one.
TEST(BetterOrder, NoneThatFitsLessThanHalf) {
  EXPECT_FALSE(BetterOrder({{0, 1, 40}, {0, 3, 60}, {1, 2, 40}, {1, 3, 60}, {2, 0, 40}, {2, 3, 60}}, 4).has_value());
  EXPECT_TRUE(BetterOrder({{0, 1, 60}, {0, 3, 40}, {1, 2, 60}, {1, 3, 40}, {2, 0, 60}, {2, 3, 40}}, 4).has_value());
}

// Each order of 3 classes fits 4 samples of any kind in some way.
TEST(BetterOrder, NoneIfChanceDoesAsWell) {
  EXPECT_FALSE(BetterOrder({{0, 1, 2}, {1, 0, 1}, {2, 0, 1}}, 3).has_value());
  // All are called 0: no order tells more than that.
  EXPECT_FALSE(BetterOrder({{0, 0, 10}, {1, 0, 90}}, 2).has_value());
}

// Predictions that know nothing: each of 200 draws has a chance below 1/1000 to be taken for an order.
TEST(BetterOrder, NoneInNoise) {
  RandomStream random(1, "plausibility_test");
  for (int draw = 0; draw < 200; ++draw) {
    const int classes = 2 + draw % 20;
    std::map<std::pair<int, int>, int64_t> counts;
    for (int i = 0; i < 5 * classes; ++i) ++counts[{i % classes, static_cast<int>(random.Below(classes))}];
    std::vector<LabelledPredictions> list;
    for (const auto& [pair, samples] : counts) list.push_back({pair.first, pair.second, samples});
    EXPECT_FALSE(BetterOrder(list, classes).has_value()) << classes << " classes";
  }
}

}  // namespace
}  // namespace openset
