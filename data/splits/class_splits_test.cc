#include "data/splits/class_splits.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

DrawnSplits Rule(const std::string& text) { return ParsedWithDefaults<DrawnSplits>(text); }

std::vector<std::pair<int, int>> Pairs(const std::vector<OpennessLevel>& levels) {
  std::vector<std::pair<int, int>> pairs;
  for (const OpennessLevel& level : levels) pairs.emplace_back(level.known(), level.unknown());
  return pairs;
}

TEST(PossibleLevels, AreThoseOfThePaper) {
  const DrawnSplits rule = Rule("levels: 1");
  // 4 classes of one data set; 4 classes against 3.
  EXPECT_THAT(Pairs(PossibleLevels(rule, {"a", 4}, {"a", 4})),
              ElementsAre(std::make_pair(2, 1), std::make_pair(2, 2), std::make_pair(3, 1)));
  EXPECT_THAT(Pairs(PossibleLevels(rule, {"a", 4}, {"b", 3})),
              ElementsAre(std::make_pair(2, 1), std::make_pair(2, 2), std::make_pair(3, 1), std::make_pair(3, 2)));
  // The 36 cells of the paper's MNIST grid; 2 to 9 known against 1 to 9 unknown of two sets of ten.
  EXPECT_EQ(PossibleLevels(rule, {"a", 10}, {"a", 10}).size(), 36);
  EXPECT_EQ(PossibleLevels(rule, {"a", 10}, {"b", 10}).size(), 8 * 9);
}

// Expectations: a Python program that follows core/random.h and task.proto.
TEST(DrawSplits, SameSeedSameSplit) {
  const std::vector<ClassSplit> holdout =
      *DrawSplits(Rule("level { known: 6 unknown: 4 } level { known: 3 unknown: 2 } repeats: 2"), {"a", 10}, {"a", 10});
  ASSERT_EQ(holdout.size(), 4);
  EXPECT_THAT(holdout[0].known(), ElementsAre(3, 9, 4, 1, 5, 8));
  EXPECT_THAT(holdout[0].unknown(), ElementsAre(6, 0, 2, 7));
  EXPECT_THAT(holdout[1].known(), ElementsAre(5, 0, 2, 8, 4, 1));
  EXPECT_THAT(holdout[1].unknown(), ElementsAre(9, 3, 6, 7));
  EXPECT_THAT(holdout[3].known(), ElementsAre(7, 4, 8));
  EXPECT_THAT(holdout[3].unknown(), ElementsAre(2, 0));

  const DrawnSplits three = Rule("seed: 5 levels: 3 repeats: 1");
  EXPECT_THAT(Pairs(*LevelsOf(three, {"a", 10}, {"b", 8})),
              ElementsAre(std::make_pair(9, 3), std::make_pair(4, 6), std::make_pair(4, 7)));
  const std::vector<ClassSplit> outlier = *DrawSplits(three, {"a", 10}, {"b", 8});
  ASSERT_EQ(outlier.size(), 3);
  EXPECT_THAT(outlier[1].known(), ElementsAre(9, 5, 0, 1));
  EXPECT_THAT(outlier[1].unknown(), ElementsAre(3, 6, 1, 5, 4, 0));

  const std::vector<ClassSplit> weighted =
      *DrawSplits(Rule("seed: 5 level { known: 4 unknown: 3 } repeats: 2 class_weight: CLASS_ID"), {"a", 10}, {"b", 8});
  EXPECT_THAT(weighted[0].known(), ElementsAre(7, 2, 9, 1));
  EXPECT_THAT(weighted[0].unknown(), ElementsAre(7, 5, 3));
  EXPECT_THAT(weighted[1].known(), ElementsAre(1, 9, 7, 6));
  EXPECT_THAT(weighted[1].unknown(), ElementsAre(4, 5, 6));
}

TEST(DrawSplits, ADrawDoesNotDependOnTheOthers) {
  const auto all =
      *DrawSplits(Rule("level { known: 2 unknown: 1 } level { known: 3 unknown: 2 } repeats: 3"), {"a", 10}, {"a", 10});
  const auto one = *DrawSplits(Rule("level { known: 3 unknown: 2 } repeats: 1"), {"a", 10}, {"a", 10});
  EXPECT_EQ(all[3].SerializeAsString(), one[0].SerializeAsString());
  const auto other_seed = *DrawSplits(Rule("seed: 1 level { known: 3 unknown: 2 } repeats: 1"), {"a", 10}, {"a", 10});
  EXPECT_NE(other_seed[0].SerializeAsString(), one[0].SerializeAsString());
}

TEST(DrawSplits, ClassesOfOneDataSetAreDisjoint) {
  for (int seed = 0; seed < 20; ++seed) {
    const DrawnSplits rule = Rule(absl::StrCat("seed: ", seed, " levels: 36 repeats: 2"));
    const std::vector<ClassSplit> splits = *DrawSplits(rule, {"a", 10}, {"a", 10});
    ASSERT_EQ(splits.size(), 72);
    for (const ClassSplit& split : splits) {
      std::set<int> classes(split.known().begin(), split.known().end());
      classes.insert(split.unknown().begin(), split.unknown().end());
      ASSERT_EQ(classes.size(), split.known_size() + split.unknown_size());
      EXPECT_GE(*classes.begin(), 0);
      EXPECT_LT(*classes.rbegin(), 10);
    }
  }
}

TEST(DrawSplits, ByClassIdNeverDrawsClass0) {
  const DrawnSplits rule = Rule("levels: 20 repeats: 3 class_weight: CLASS_ID");
  const std::vector<ClassSplit> splits = *DrawSplits(rule, {"a", 10}, {"b", 10});
  for (const ClassSplit& split : splits) {
    for (const int id : split.known()) EXPECT_NE(id, 0);
    for (const int id : split.unknown()) EXPECT_NE(id, 0);
  }
  // Of classes 0, 1, 2, the first drawn is class 2 with probability 2/3: n = 3,000, 2,000 expected, standard deviation
  // 25.8. Five standard deviations are exceeded once in 1.7 million runs.
  int twos = 0;
  for (int seed = 0; seed < 3000; ++seed) {
    const DrawnSplits one =
        Rule(absl::StrCat("seed: ", seed, " level { known: 1 unknown: 1 } repeats: 1 class_weight: CLASS_ID"));
    twos += (*DrawSplits(one, {"a", 3}, {"b", 3}))[0].known(0) == 2;
  }
  EXPECT_NEAR(twos, 2000, 129);
}

// Levels are drawn with probability proportional to known + unknown. With one set of 3 classes the only level is (2,
// 1); with 3 classes against 3, (2, 1) has probability 3/7 and (2, 2) has 4/7. n = 3,000: 1,285.7 expected, standard
// deviation 27.1; the limit is five standard deviations.
TEST(LevelsOf, LargerProblemsAreMoreLikely) {
  int ones = 0;
  for (int seed = 0; seed < 3000; ++seed) {
    const auto levels = *LevelsOf(Rule(absl::StrCat("seed: ", seed, " levels: 1")), {"a", 3}, {"b", 3});
    ones += levels[0].unknown() == 1;
  }
  EXPECT_NEAR(ones, 1285.7, 136);
  EXPECT_THAT(Pairs(*LevelsOf(Rule("levels: 1"), {"a", 3}, {"a", 3})), ElementsAre(std::make_pair(2, 1)));
}

std::string Error(const std::string& rule, const ClassPool& known, const ClassPool& unknown) {
  return std::string(DrawSplits(Rule(rule), known, unknown).status().message());
}

TEST(DrawSplits, RefusesImpossibleRules) {
  EXPECT_EQ(Error("", {"a", 4}, {"a", 4}), "level: list the levels, or set `levels` to the number to draw");
  EXPECT_EQ(Error("level { known: 1 unknown: 1 } levels: 2", {"a", 4}, {"a", 4}),
            "level: list the levels, or set `levels` to the number to draw");
  EXPECT_EQ(Error("levels: 4", {"a", 4}, {"a", 4}), "levels: 4 are more than the 3 that are possible");
  EXPECT_EQ(Error("level { known: 2 unknown: 2 } level { known: 3 unknown: 2 }", {"a", 4}, {"a", 4}),
            "level[1]: 3 known and 2 unknown classes can't be drawn: 'a' has 4 classes");
  EXPECT_EQ(Error("level { known: 3 unknown: 4 }", {"a", 4}, {"b", 3}),
            "level[0]: 3 known and 4 unknown classes can't be drawn: 'a' has 4 classes, 'b' 3");
  EXPECT_EQ(Error("level { known: 4 unknown: 1 } class_weight: CLASS_ID", {"a", 4}, {"b", 3}),
            "level[0]: 4 known and 1 unknown classes can't be drawn: 'a' has 4 classes, 'b' 3, and class 0 has weight "
            "0");
}

}  // namespace
}  // namespace openset
