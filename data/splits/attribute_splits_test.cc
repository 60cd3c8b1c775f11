#include "data/splits/attribute_splits.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TEST(ParseAttributes, ReadsOneLineForEachClass) {
  EXPECT_THAT(*ParseAttributes("1 0\t2.5\r\n\n0,-3,1e1\n", "file"),
              ElementsAre(ElementsAre(1, 0, 2.5), ElementsAre(0, -3, 10)));
  EXPECT_EQ(ParseAttributes("1 2\n1 x\n", "file").status().message(), "file:2: 'x' is not a finite number");
  EXPECT_EQ(ParseAttributes("1 nan\n", "file").status().message(), "file:1: 'nan' is not a finite number");
  EXPECT_EQ(ParseAttributes("1 2\n\n1 2 3\n", "file").status().message(),
            "file:3: has 3 numbers, and the first line 2");
  EXPECT_EQ(ParseAttributes("1 2\n0 0\n", "file").status().message(),
            "file:2: all attributes are 0, so no cosine is defined");
  EXPECT_THAT(*ParseAttributes("1e-200 0\n5e-324 1e308\n", "file"),
              ElementsAre(ElementsAre(1e-200, 0), ElementsAre(5e-324, 1e308)));
  EXPECT_EQ(ParseAttributes("\n", "file").status().message(), "file: has no line of numbers");
}

// Directions of 0, 90, 45, 30, 90 and 180 degrees; lengths don't matter.
TEST(RankUnknownClasses, ByTheCosineToTheNearestKnownClass) {
  const double h = std::sqrt(0.75);
  const AttributeMatrix attributes = {{2, 0}, {0, 5}, {1, 1}, {h, 0.5}, {0, 1}, {-1, 0}};
  const std::vector<UnknownClass> ranked = RankUnknownClasses(attributes, {1, 0});
  ASSERT_EQ(ranked.size(), 4);
  EXPECT_EQ(ranked[0].class_id, 4);
  EXPECT_EQ(ranked[0].nearest_known, 1);
  EXPECT_NEAR(ranked[0].cosine, 1, 1e-15);
  EXPECT_EQ(ranked[1].class_id, 3);
  EXPECT_EQ(ranked[1].nearest_known, 0);
  EXPECT_NEAR(ranked[1].cosine, h, 1e-15);
  // Equally near to both: the earlier known class.
  EXPECT_EQ(ranked[2].class_id, 2);
  EXPECT_EQ(ranked[2].nearest_known, 1);
  EXPECT_NEAR(ranked[2].cosine, std::sqrt(0.5), 1e-15);
  EXPECT_EQ(ranked[3].class_id, 5);
  EXPECT_EQ(ranked[3].nearest_known, 1);
  EXPECT_NEAR(ranked[3].cosine, 0, 1e-15);
}

// The squares of 1e200 are infinite, and those of 1e-200 are 0.
TEST(RankUnknownClasses, OfAttributesOfAnyMagnitude) {
  const AttributeMatrix attributes = {{1e200, 0}, {0, 1e-200}, {3e200, 4e200}, {12e-200, 5e-200}, {-1e308, -1e308}};
  const std::vector<UnknownClass> ranked = RankUnknownClasses(attributes, {0, 1});
  ASSERT_EQ(ranked.size(), 3);
  EXPECT_EQ(ranked[0].class_id, 3);
  EXPECT_EQ(ranked[0].nearest_known, 0);
  EXPECT_NEAR(ranked[0].cosine, 12.0 / 13, 1e-15);
  EXPECT_EQ(ranked[1].class_id, 2);
  EXPECT_EQ(ranked[1].nearest_known, 1);
  EXPECT_NEAR(ranked[1].cosine, 0.8, 1e-15);
  EXPECT_EQ(ranked[2].class_id, 4);
  EXPECT_NEAR(ranked[2].cosine, -std::sqrt(0.5), 1e-15);
}

TEST(EqualLevels, DifferByOneAtMost) {
  EXPECT_THAT(EqualLevels(100, 3), ElementsAre(34, 33, 33));
  EXPECT_THAT(EqualLevels(101, 3), ElementsAre(34, 34, 33));
  EXPECT_THAT(EqualLevels(6, 2), ElementsAre(3, 3));
  EXPECT_THAT(EqualLevels(1, 2), ElementsAre(1, 0));
}

}  // namespace
}  // namespace openset
