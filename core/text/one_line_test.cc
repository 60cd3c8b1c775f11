#include "core/text/one_line.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(OneLine, HasNoControlCharacters) { EXPECT_EQ(OneLine("a\nb\r\tc\x7f ü"), "a b  c  ü"); }

TEST(OneLine, RemovesControlCodes) {
  EXPECT_EQ(OneLine("\x1b[31mred\x1b]0;title\x07"), " [31mred ]0;title ");
  EXPECT_EQ(OneLine("\xc2\x9b"
                    "31m"),
            "\uFFFD31m");  // CSI as one character
  EXPECT_EQ(OneLine("a\u202Eb\u2066c\u200Fd\u061Ce"), "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe");
  EXPECT_EQ(OneLine("a\u2028b\u2029c"), "a\uFFFDb\uFFFDc");
  EXPECT_EQ(OneLine("größer ± 日本 😀"), "größer ± 日本 😀");
}

TEST(OneLine, IsUtf8) {
  for (const char* bytes : {"\xff", "\x9b", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\xc3"}) {
    EXPECT_FALSE(IsUtf8(bytes));
    EXPECT_TRUE(IsUtf8(OneLine(bytes)));
  }
  EXPECT_EQ(OneLine("a\xff\xfe z"), "a\uFFFD\uFFFD z");
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("größer ± 日本 😀"));
}

TEST(Printable, KeepsLinesAndTabs) { EXPECT_EQ(Printable("a\n\tb\r\x1b[2Kc\xff"), "a\n\tb  [2Kc\uFFFD"); }

TEST(UnfinishedBytes, OfACharacterThatMayGoOn) {
  EXPECT_EQ(UnfinishedBytes(""), 0);
  EXPECT_EQ(UnfinishedBytes("abc"), 0);
  EXPECT_EQ(UnfinishedBytes("a\xc3"), 1);
  EXPECT_EQ(UnfinishedBytes("ü"), 0);
  EXPECT_EQ(UnfinishedBytes("a\xe2\x80"), 2);
  EXPECT_EQ(UnfinishedBytes("a\xf0\x9f\x98"), 3);
  EXPECT_EQ(UnfinishedBytes("😀"), 0);
  EXPECT_EQ(UnfinishedBytes("\x80\x80\x80\x80"), 0);
}

TEST(WithoutControls, EscapesCharactersThatJsonAllows) {
  EXPECT_EQ(WithoutControls("[\"a\x7f\u009b31m\u202e ü 😀\"]"), "[\"a\\u007f\\u009b31m\\u202e ü 😀\"]");
  EXPECT_EQ(WithoutControls("{\n}"), "{\n}");
}

}  // namespace
}  // namespace openset
