#include "eval/report/comparison_words.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ShowPValue, Rounds) {
  EXPECT_EQ(ShowPValue(0.03124), "0.0312");
  EXPECT_EQ(ShowPValue(1), "1.0000");
  EXPECT_EQ(ShowPValue(0), "< 0.0001");
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
