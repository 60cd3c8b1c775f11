#include "core/text/shortened.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Shortened, LeavesShortTexts) {
  EXPECT_EQ(Shortened(""), "");
  EXPECT_EQ(Shortened("a\nb\n"), "a\nb\n");
  EXPECT_EQ(Shortened(std::string(1000, 'x')), std::string(1000, 'x'));
}

TEST(Shortened, CutsLinesAndTheirNumber) {
  EXPECT_EQ(Shortened("12345678\nab", 10, 4), "1234... (and 4 bytes more)\nab");
  EXPECT_EQ(Shortened("a\nb\nc\nd", 2, 4), "a\nb\n(and 2 lines more)");
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(Shortened("ab\xc3\xa4xyz", 1, 3), "ab... (and 5 bytes more)");
  EXPECT_EQ(Shortened("ab\xc3\xa4xyz", 1, 4), "ab\xc3\xa4... (and 3 bytes more)");
  // Text that is not UTF-8 is cut too.
  EXPECT_EQ(Shortened(std::string(10, '\x80'), 1, 4).substr(0, 1), "\x80");
}

}  // namespace
}  // namespace openset
