#include "data/readers/gzip.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

// Python: gzip.compress(b"open", mtime=0) and gzip.compress(b" set", mtime=0).
const char kOpen[] = "1f8b0800000000000203cb2f48cd0300a48370a404000000";
const char kSet[] = "1f8b080000000000020353284e2d0100ec8c239804000000";

std::string Bytes(absl::string_view hex) { return absl::HexStringToBytes(hex); }
std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(Gunzip, InflatesOneMemberOrSeveral) {
  EXPECT_EQ(*Gunzip(Bytes(kOpen)), "open");
  EXPECT_EQ(*Gunzip(Bytes(kOpen) + Bytes(kSet)), "open set");
}

TEST(Gunzip, RefusesEveryTruncationAndWrongContent) {
  const std::string bytes = Bytes(kOpen);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::Status status = Gunzip(bytes.substr(0, size)).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << size << status;
    EXPECT_THAT(Message(status), HasSubstr("truncated"));
  }
  std::string wrong_crc = bytes;
  wrong_crc[wrong_crc.size() - 8] ^= 1;
  EXPECT_THAT(Message(Gunzip(wrong_crc).status()),
              HasSubstr("corrupt at byte 20 (incorrect data check); fetch the file again"));
  EXPECT_TRUE(absl::IsDataLoss(Gunzip(bytes + "tail").status()));
}

TEST(Gunzip, StopsAtTheLimit) {
  EXPECT_EQ(*Gunzip(Bytes(kOpen), 4), "open");
  EXPECT_EQ(Gunzip(Bytes(kOpen), 3).status(), absl::DataLossError("the gzip stream inflates to more than 3 bytes"));
  EXPECT_TRUE(absl::IsDataLoss(Gunzip(Bytes(kOpen) + Bytes(kSet), 7).status()));
  EXPECT_TRUE(absl::IsDataLoss(Gunzip(Bytes(kOpen), 0).status()));
}

TEST(Gunzip, GrowsItsBuffer) {
  // Python: gzip.compress(bytes(200000), mtime=0).
  const std::string zeros = Bytes(absl::StrCat("1f8b0800000000000203edc13101000000c2a0f54f6d067fa0",
                                               std::string(386, '0'), "80d7007b58e05c400d0300"));
  ASSERT_OK_AND_ASSIGN(const std::string content, Gunzip(zeros));
  EXPECT_EQ(content, std::string(200000, '\0'));
  EXPECT_EQ(Gunzip(zeros, 200000)->size(), 200000);
  EXPECT_TRUE(absl::IsDataLoss(Gunzip(zeros, 199999).status()));
}

TEST(ReadPlainOrGzipped, PassesPlainFilesThrough) {
  EXPECT_EQ(*ReadPlainOrGzipped(WriteTestFile("plain", "open")), "open");
  EXPECT_EQ(*ReadPlainOrGzipped(WriteTestFile("short", "\x1f")), "\x1f");
  EXPECT_EQ(*ReadPlainOrGzipped(WriteTestFile("open.gz", Bytes(kOpen))), "open");
}

TEST(ReadPlainOrGzipped, NamesTheFile) {
  EXPECT_TRUE(absl::IsNotFound(ReadPlainOrGzipped("/no/such/file").status()));
  const std::string path = WriteTestFile("cut.gz", Bytes(kOpen).substr(0, 20));
  EXPECT_EQ(ReadPlainOrGzipped(path).status(),
            absl::DataLossError(path + ": the gzip stream is truncated at byte 20; fetch the file again"));
}

}  // namespace
}  // namespace openset
