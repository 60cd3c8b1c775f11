#include "core/files/formats/tf_record.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

// The check value of CRC-32C, and the test vectors of RFC 3720, appendix B.4: 32 bytes of zeros, of ones.
TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

TEST(TfRecord, HasLengthAndChecksumsAroundTheData) {
  const std::string record = TfRecord("abc");
  ASSERT_EQ(record.size(), 8 + 4 + 3 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 3), "abc");
}

}  // namespace
}  // namespace openset
