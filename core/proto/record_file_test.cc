#include "core/proto/record_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/testing/schema_test.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::openset::testing::Root;

Root Example() {
  Root root;
  root.set_name("n");
  root.mutable_leaf()->set_rate(0.25);
  root.add_tag("a");
  root.set_big(1234567890123);
  return root;
}

TEST(RecordFile, RoundTrip) {
  Root read;
  ASSERT_TRUE(DecodeRecord(EncodeRecord(Example()), &read).ok());
  EXPECT_EQ(read.SerializeAsString(), Example().SerializeAsString());
  EXPECT_EQ(EncodeRecord(read), EncodeRecord(Example()));
  ASSERT_TRUE(DecodeRecord(EncodeRecord(Root()), &read).ok());
  EXPECT_EQ(read.ByteSizeLong(), 0);
}

TEST(RecordFile, RefusesFilesLargerThanAnyMessage) {
  const std::string path = ::testing::TempDir() + "/large.rec";
  std::ofstream(path) << EncodeRecord(Example());
  std::filesystem::resize_file(path, 10'000'000'000);
  Root read;
  const absl::Status status = ReadRecordFile(path, &read);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("large.rec: has 10000000000 bytes"), std::string::npos) << status;
  std::filesystem::remove(path);
}

TEST(RecordFile, FieldsAreLeftOut) {
  Root expected = Example();
  expected.clear_leaf();
  expected.clear_big();
  Root read;
  read.add_tag("what it held before");
  ASSERT_TRUE(DecodeRecord(EncodeRecord(Example()), &read, {Root::kLeafFieldNumber, Root::kBigFieldNumber}).ok());
  EXPECT_EQ(read.SerializeAsString(), expected.SerializeAsString());
  // One that is not there.
  ASSERT_TRUE(DecodeRecord(EncodeRecord(expected), &read, {Root::kLeafFieldNumber}).ok());
  EXPECT_EQ(read.SerializeAsString(), expected.SerializeAsString());
}

TEST(RecordFile, NoticesCorruptionInSkippedFields) {
  const std::string bytes = EncodeRecord(Example());
  for (size_t byte = 0; byte < bytes.size(); ++byte) {
    std::string damaged = bytes;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
    Root read;
    EXPECT_FALSE(DecodeRecord(damaged, &read, {Root::kNameFieldNumber, Root::kLeafFieldNumber}).ok()) << byte;
  }
}

TEST(RecordFile, NoticesEveryBitFlip) {
  const std::string bytes = EncodeRecord(Example());
  for (size_t byte = 0; byte < bytes.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
      Root read;
      EXPECT_FALSE(DecodeRecord(damaged, &read).ok()) << byte << " " << bit;
    }
  }
}

TEST(RecordFile, NoticesEveryTruncationAndAddition) {
  const std::string bytes = EncodeRecord(Example());
  Root read;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRecord(bytes.substr(0, size), &read).ok()) << size;
  }
  EXPECT_EQ(DecodeRecord(bytes + "x", &read).code(), absl::StatusCode::kDataLoss);
}

TEST(RecordFile, DistinguishesNewerLayoutsFromCorruption) {
  Root read;
  EXPECT_EQ(DecodeRecord("openset record 2\n...", &read).code(), absl::StatusCode::kUnimplemented);
}

TEST(RecordFile, FilesAreNamedInErrors) {
  const std::string path = ::testing::TempDir() + "/record_file_test.rec";
  std::ofstream(path) << "nonsense";
  Root read;
  EXPECT_EQ(ReadRecordFile(path, &read), absl::DataLossError(path + ": not a record file"));
  EXPECT_EQ(ReadRecordFile("/nowhere", &read).code(), absl::StatusCode::kNotFound);
  const std::string pipe = ::testing::TempDir() + "/record_file_test_pipe";
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(ReadRecordFile(pipe, &read), absl::DataLossError(pipe + ": is a pipe or a device"));  // nobody writes to it
}

}  // namespace
}  // namespace openset
