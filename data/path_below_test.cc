#include "data/path_below.h"

#include "absl/strings/str_cat.h"

namespace openset {
namespace {

TEST(WhyNotBelow, AcceptsPathsBelow) {
  for (const char* path : {"a", ".", "a/b.png", "./a", "a//b", "a/", "..a/b..", "a/...", "\xc3\xa9t\xc3\xa9/1.png"}) {
    EXPECT_EQ(WhyNotBelow(path), "") << path;
  }
}

TEST(WhyNotBelow, SaysWhatIsWrong) {
  EXPECT_EQ(WhyNotBelow(""), "is empty");
  EXPECT_EQ(WhyNotBelow("/etc/passwd"), "begins with '/'");
  for (const char* path : {"..", "../a", "a/..", "a/../b", "a/b/../../../c"}) {
    EXPECT_EQ(WhyNotBelow(path), "has '..' in it") << path;
  }
  EXPECT_EQ(WhyNotBelow(absl::string_view("a\0b", 3)), "has a control character in it");
  EXPECT_EQ(WhyNotBelow("a\nb"), "has a control character in it");
  EXPECT_EQ(WhyNotBelow(std::string(256, 'a')), "has a name of more than 255 bytes in it");
  std::string deep = "a";
  for (int i = 0; i < 64; ++i) absl::StrAppend(&deep, "/a");
  EXPECT_EQ(WhyNotBelow(deep), "has more than 64 folders in it");
  EXPECT_EQ(WhyNotBelow(std::string(5000, '/').replace(0, 1, "a")), "is longer than 4000 bytes");
}

}  // namespace
}  // namespace openset
