#include "core/text/printable_stream.h"

#include <sstream>
#include <string>

#include "gtest/gtest.h"

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

}  // namespace
}  // namespace openset
