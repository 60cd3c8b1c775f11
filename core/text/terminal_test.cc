#include "core/text/terminal.h"

#include <sstream>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(PrintableStream, HandsOnTextWithoutCodes) {
  std::ostringstream out;
  {
    PrintableStream printable(&out);
    out << "a\tb\n"
        << "\x1b[31m" << 7 << '\x7f' << "\xff" << std::endl;
    EXPECT_EQ(out.str(), "a\tb\n [31m7 \uFFFD\n");
  }
  out << "\x1b[0m";
  EXPECT_EQ(out.str(), "a\tb\n [31m7 \uFFFD\n\x1b[0m");
}

TEST(PrintableStream, ACharacterMayComeInParts) {
  std::ostringstream out;
  PrintableStream printable(&out);
  for (const char byte : std::string("ü😀")) out << byte;
  EXPECT_EQ(out.str(), "ü😀");
  // C1 in parts, and one that never ends.
  out << '\xc2' << '\x9b' << "m\xe2\x80";
  EXPECT_EQ(out.str(), "ü😀\uFFFDm");
  out.flush();
  EXPECT_EQ(out.str(), "ü😀\uFFFDm\uFFFD\uFFFD");
}

TEST(PrintableStream, CodesThatAreMeantPass) {
  std::ostringstream out;
  WriteCodes("\r\033[K", &out);
  PrintableStream printable(&out);
  out << "a\r";
  WriteCodes("\r\033[K", &out);
  EXPECT_EQ(out.str(), "\r\033[Ka \r\033[K");
}

TEST(PrintableStream, AStreamThatFailedHasFailed) {
  std::ostringstream out;
  {
    PrintableStream printable(&out);
    out.setstate(std::ios::badbit);
  }
  EXPECT_TRUE(out.bad());
}

TEST(ProgressText, ShowsKnownValues) {
  EXPECT_EQ(ProgressText("hashing dtd", 1200, 5640, "images", 340),
            "hashing dtd: 1200 of 5640 images (21 %), 340/s, 14 s left");
  EXPECT_EQ(ProgressText("hashing dtd", 0, 5640, "images", 0), "hashing dtd: 0 of 5640 images (0 %)");
  EXPECT_EQ(ProgressText("hashing dtd", 5640, 5640, "images", 300), "hashing dtd: 5640 of 5640 images (100 %), 300/s");
  EXPECT_EQ(ProgressText("fetching x", 12300000, 170500000, "bytes", 4.1e6),
            "fetching x: 12.3 of 170.5 MB (7 %), 4.1 MB/s, 39 s left");
  EXPECT_EQ(ProgressText("fetching x", 12300000, 0, "bytes", 4.1e6), "fetching x: 12.3 MB, 4.1 MB/s");
  // 100 s are 2 minutes, rounded up; 3 h 5 min.
  EXPECT_EQ(ProgressText("x", 0, 100, "images", 1), "x: 0 of 100 images (0 %), 1/s, 2 min left");
  EXPECT_EQ(ProgressText("x", 0, 11100, "images", 1), "x: 0 of 11100 images (0 %), 1/s, 3 h 05 min left");
}

class ProgressLineTest : public ::testing::Test {
 protected:
  ProgressLine Line(bool to_terminal) {
    return ProgressLine("images", to_terminal, &out_, [this] { return now_; });
  }
  std::string Written() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  double now_ = 1000;
  std::ostringstream out_;
};

TEST_F(ProgressLineTest, ShortWorkHasNoLine) {
  {
    ProgressLine line = Line(true);
    for (int i = 0; i <= 19; ++i, now_ += 0.1) line.Update("x", i, 19);
  }
  EXPECT_EQ(Written(), "");
}

// The first line after two seconds, the next ten seconds later; the rate excludes earlier work.
TEST_F(ProgressLineTest, WritesLinesToAFile) {
  ProgressLine line = Line(false);
  line.Update("x", 50, 1000);
  now_ += 2;
  line.Update("x", 70, 1000);
  EXPECT_EQ(Written(), "openset: x: 70 of 1000 images (7 %), 10/s, 93 s left\n");
  now_ += 9;
  line.Update("x", 160, 1000);
  EXPECT_EQ(Written(), "");
  now_ += 1;
  line.Update("x", 170, 1000);
  EXPECT_EQ(Written(), "openset: x: 170 of 1000 images (17 %), 10/s, 83 s left\n");
  line.Update("y", 0, 10);
  now_ += 1;
  line.Update("y", 1, 10);
  EXPECT_EQ(Written(), "") << "another piece of work begins anew";
}

TEST_F(ProgressLineTest, WritesOneLineOverTheOtherOnATerminal) {
  {
    ProgressLine line = Line(true);
    line.Update("x", 0, 100);
    now_ += 2;
    line.Update("x", 20, 100);
    EXPECT_EQ(Written(), "\r\033[Kopenset: x: 20 of 100 images (20 %), 10/s, 8 s left");
    now_ += 0.25;
    line.Update("x", 30, 100);
    EXPECT_EQ(Written(), "");
    line.Update("x", 100, 100);
    EXPECT_EQ(Written(), "\r\033[Kopenset: x: 100 of 100 images (100 %), 44/s");
  }
  EXPECT_EQ(Written(), "\n");
}

}  // namespace
}  // namespace openset
