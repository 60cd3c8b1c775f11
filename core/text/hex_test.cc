#include "core/text/hex.h"

#include <string>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(IsHex, TakesLowerCaseDigitsOnly) {
  EXPECT_TRUE(IsHex("0123456789abcdef"));
  for (const char* text : {"A", "g", "`", "/", ":", " 1", "1 ", "-1", "0x1", "\xff"}) EXPECT_FALSE(IsHex(text)) << text;
  EXPECT_FALSE(IsHex(absl::string_view("1\0", 2)));
}

TEST(IsHex, CountsDigits) {
  EXPECT_TRUE(IsHex(""));
  EXPECT_TRUE(IsHex("", 0));
  EXPECT_TRUE(IsHex(std::string(kSha256Digits, 'f'), kSha256Digits));
  EXPECT_FALSE(IsHex(std::string(kSha256Digits - 1, 'f'), kSha256Digits));
  EXPECT_FALSE(IsHex(std::string(kSha256Digits + 1, 'f'), kSha256Digits));
  EXPECT_FALSE(IsHex(std::string(kSha256Digits - 1, 'f') + "F", kSha256Digits));
}

TEST(IsSha256, Has64Digits) {
  EXPECT_TRUE(IsSha256(std::string(64, '0')));
  EXPECT_FALSE(IsSha256(std::string(63, '0')));
  EXPECT_FALSE(IsSha256(std::string(65, '0')));
  EXPECT_FALSE(IsSha256(std::string(64, 'F')));
}

}  // namespace
}  // namespace openset
