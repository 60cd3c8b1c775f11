#include "core/text/wrapped_text.h"

#include <algorithm>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(Counted, HasAPlural) {
  EXPECT_EQ(Counted(0, "run"), "0 runs");
  EXPECT_EQ(Counted(1, "run"), "1 run");
  EXPECT_EQ(Counted(-1, "run"), "-1 runs");
  EXPECT_EQ(Counted(3000000000, "new trial"), "3000000000 new trials");
}

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

TEST(WrappedText, CountsCharacters) {
  EXPECT_EQ(TextWidth(""), 0);
  EXPECT_EQ(TextWidth("ab c"), 4);
  EXPECT_EQ(TextWidth("1 ± 2"), 5);  // 6 bytes
}

TEST(WrappedText, LinesHoldAsManyWordsAsFit) {
  EXPECT_THAT(WrapWords("", 5), ElementsAre(""));
  EXPECT_THAT(WrapWords("ab cd", 5), ElementsAre("ab cd"));
  EXPECT_THAT(WrapWords("ab cd e", 5), ElementsAre("ab cd", "e"));
  EXPECT_THAT(WrapWords("± ± ± ±", 5), ElementsAre("± ± ±", "±"));
  EXPECT_THAT(WrapWords("a longest b", 5), ElementsAre("a", "longest", "b"));
}

TEST(WrappedText, OnlyLinesThatAreTooWideChange) {
  EXPECT_EQ(Wrapped("", 8), "");
  EXPECT_EQ(Wrapped("  kept  as it  is\nshort\n", 20), "  kept  as it  is\nshort\n");
  EXPECT_EQ(Wrapped("one two three four five\nsix\n", 9), "one two\n  three\n  four\n  five\nsix\n");
  EXPECT_EQ(Wrapped("  one two three", 9), "  one two\n    three");
  // A line that is one word can't be made shorter.
  EXPECT_EQ(Wrapped("/a/path/without/end", 8), "/a/path/without/end");
}

TEST(WrappedText, NoLineIsTooWide) {
  std::string text = "  ";
  for (int i = 0; i < 300; ++i) text += std::string(1 + i % 11, 'x') + " ";
  const std::string wrapped = Wrapped(text + "\nend", 40);
  size_t begin = 0, words = 0;
  while (begin < wrapped.size()) {
    const size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
    EXPECT_LE(end - begin, 40);
    begin = end + 1;
  }
  for (size_t i = 0; i + 1 < wrapped.size(); ++i) words += wrapped[i] == 'x' && wrapped[i + 1] != 'x';
  EXPECT_EQ(words, 300);
}

}  // namespace
}  // namespace openset
