#include "eval/report/comparison_words.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ShowPValue, Rounds) {
  EXPECT_EQ(ShowPValue(0.03124), "0.0312");
  EXPECT_EQ(ShowPValue(1), "1.0000");
  EXPECT_EQ(ShowPValue(0), "< 0.0001");
}

TEST(SharedStart, EndsAfterAComma) {
  EXPECT_EQ(SharedStart({"digits, 2 unknown classes", "digits, 8 unknown classes"}), "digits, ");
  EXPECT_EQ(SharedStart({"digits, 2", "letters, 2"}), "");
  EXPECT_EQ(SharedStart({"digits"}), "");
}

TEST(NamesForCells, AreShortOrNumbers) {
  std::vector<std::string> lines;
  const auto names = [&](const std::vector<std::string>& all, int per_cell) {
    const std::map<std::string, std::string> in_cells = NamesForCells(all, per_cell, &lines);
    return std::pair(in_cells.at(all[0]), in_cells.at(all[1]));
  };
  EXPECT_THAT(names({"mcp+laptop", "knn+laptop"}, 2), Pair("mcp", "knn"));
  EXPECT_THAT(lines, ElementsAre("all methods: +laptop"));
  lines.clear();
  const std::string wide(31, 'w');
  EXPECT_THAT(names({wide, "knn"}, 1), Pair(wide, "knn"));
  EXPECT_THAT(lines, ElementsAre());
  EXPECT_THAT(names({wide, "knn"}, 2), Pair("[1]", "[2]"));  // 62 letters in a cell of two
  EXPECT_THAT(lines, ElementsAre("[1] " + wide, "[2] knn"));
}

TEST(SharedEnd, BeginsAtAPlusOrAComma) {
  EXPECT_EQ(SharedEnd({"mcp+laptop", "max_logit+laptop"}), "+laptop");
  EXPECT_EQ(SharedEnd({"a+p, lambda 0.1", "b, lambda 0.1"}), ", lambda 0.1");
  EXPECT_EQ(SharedEnd({"a+p, lambda 0.1", "b+p, lambda 0.1"}), "+p, lambda 0.1");
  EXPECT_EQ(SharedEnd({"softmax", "max"}), "");
  EXPECT_EQ(SharedEnd({"a+p", "+p"}), "");  // nothing would be left
  EXPECT_EQ(SharedEnd({"a+p"}), "");
}

}  // namespace
}  // namespace openset
