#include "core/files/formats/torch_file.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/files/files.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Arrays = std::map<std::string, OwnedArray>;

// Files that tools/peers/make_torch_files.py made.
std::string Bytes(const std::string& name) {
  return *ReadFile(absl::StrCat("core/files/formats/testdata/torch_", name, ".pth"));
}

template <typename T>
std::vector<T> Values(const OwnedArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

void ExpectTheTensors(const absl::StatusOr<Arrays>& read) {
  ASSERT_THAT(read, IsOk());
  const Arrays& arrays = *read;
  ASSERT_THAT(arrays, SizeIs(7));
  EXPECT_THAT(arrays.at("whole").shape, ElementsAre(3, 4));
  EXPECT_EQ(arrays.at("whole").type, ArrayType::kF32);
  EXPECT_THAT(Values<float>(arrays.at("whole")), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(arrays.at("transposed").shape, ElementsAre(4, 3));
  EXPECT_THAT(Values<float>(arrays.at("transposed")), ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_THAT(Values<float>(arrays.at("row")), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(arrays.at("parameter").type, ArrayType::kF64);
  EXPECT_THAT(Values<double>(arrays.at("parameter")), ElementsAre(0.5, -0.25));
  EXPECT_THAT(arrays.at("count").shape, ElementsAre());
  EXPECT_THAT(Values<int64_t>(arrays.at("count")), ElementsAre(7));
  EXPECT_EQ(arrays.at("mask").type, ArrayType::kBool);
  EXPECT_THAT(Values<uint8_t>(arrays.at("mask")), ElementsAre(1, 0, 1));
  EXPECT_THAT(arrays.at("none").shape, ElementsAre(0, 3));
  EXPECT_EQ(arrays.at("none").data, "");
}

TEST(TorchFile, AStateDict) { ExpectTheTensors(DecodeTorchFile(Bytes("state"))); }

TEST(TorchFile, ACheckpointThatHoldsOne) { ExpectTheTensors(DecodeTorchFile(Bytes("checkpoint"))); }

TEST(TorchFile, ObjectsAreRefusedByName) {
  EXPECT_THAT(DecodeTorchFile(Bytes("object")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("holds a Python object of 'argparse Namespace'")));
}

TEST(TorchFile, TensorsLieInTheirStorage) {
  for (const char* name : {"outside", "expanded", "short"}) {
    EXPECT_THAT(DecodeTorchFile(Bytes(name)).status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("tensor 'weight': lies outside its storage")))
        << name;
  }
}

// A file of 5 kB whose tensors would take 1.1 GiB, each copied from the one storage that they share.
TEST(TorchFile, TensorsOfOneStorageAreNotCopiedWithoutEnd) {
  EXPECT_THAT(DecodeTorchFile(Bytes("shared")).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("it takes more than 1073741824 bytes")));
}

TEST(TorchFile, OtherErrors) {
  EXPECT_THAT(DecodeTorchFile(Bytes("big_endian")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte order 'big'")));
  EXPECT_THAT(DecodeTorchFile(Bytes("no_tensors")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("other things than tensors: 'epoch'")));
  EXPECT_THAT(DecodeTorchFile(absl::string_view("\x80\x02\x8a\x0alor", 7)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not in the zip format of torch.save()")));
}

// A truncated or changed file gives an error or the same tensors, because fields that are not read may differ.
TEST(TorchFile, CorruptionNeverGivesOtherTensors) {
  const std::string whole = Bytes("state");
  int refused = 0, tried = 0;
  const auto check = [&](const std::string& content) {
    const absl::StatusOr<Arrays> read = DecodeTorchFile(content);
    ++tried;
    refused += !read.ok();
    if (read.ok()) ExpectTheTensors(read);
  };
  for (size_t size = 0; size + 22 < whole.size(); size += 7) check(whole.substr(0, size));
  EXPECT_EQ(refused, tried);  // a zip archive is invalid without the record at its end
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] ^= 0x20;
    check(damaged);
  }
}

TEST(TorchFile, TellsTorchSaveFromTorchScript) {
  EXPECT_TRUE(IsTorchSave(Bytes("state")));
  EXPECT_FALSE(IsTorchSave("PK\x03\x04 archive/data.pkl archive/constants.pkl"));
  EXPECT_FALSE(IsTorchSave("archive/data.pkl"));
}

}  // namespace
}  // namespace openset
