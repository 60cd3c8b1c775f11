#include "core/files/formats/torch_file.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

// Made by tools/peers/make_torch_files.py.
std::string Path(const std::string& name) { return absl::StrCat("core/files/formats/testdata/torch_", name, ".pth"); }

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

TEST(TorchFile, AStateDict) { ExpectTheTensors(ReadTorchFile(Path("state"))); }

TEST(TorchFile, ACheckpointThatHoldsOne) { ExpectTheTensors(ReadTorchFile(Path("checkpoint"))); }

TEST(TorchFile, ObjectsAreRefusedByName) {
  EXPECT_THAT(ReadTorchFile(Path("object")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("torch_object.pth: it holds a Python object of 'argparse Namespace'")));
}

TEST(TorchFile, TensorsLieInTheirStorage) {
  for (const char* name : {"outside", "expanded", "short"}) {
    EXPECT_THAT(ReadTorchFile(Path(name)).status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("tensor 'weight': lies outside its storage")))
        << name;
  }
}

// A file of 5 kB whose tensors would take 1.1 GiB, each copied from the one storage that they share.
TEST(TorchFile, TensorsOfOneStorageAreNotCopiedWithoutEnd) {
  EXPECT_THAT(ReadTorchFile(Path("shared")).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("it takes more than 1073741824 bytes")));
}

TEST(TorchFile, OtherErrors) {
  EXPECT_THAT(ReadTorchFile("/nowhere.pth").status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadTorchFile(Path("big_endian")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte order 'big'")));
  EXPECT_THAT(ReadTorchFile(Path("no_tensors")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("other things than tensors: 'epoch'")));
  const std::string old = JoinPath(::testing::TempDir(), "old.pth");
  ASSERT_THAT(WriteFileAtomically(old, std::string("\x80\x02\x8a\x0alor", 7)), IsOk());
  EXPECT_THAT(ReadTorchFile(old).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not in the zip format of torch.save()")));
}

// A truncated or changed file gives an error or the same tensors, because fields that are not read may differ.
TEST(TorchFile, CorruptionNeverGivesOtherTensors) {
  const std::string whole = *ReadFile(Path("state"));
  const std::string path = JoinPath(::testing::TempDir(), "damaged.pth");
  int refused = 0, tried = 0;
  const auto check = [&](const std::string& content) {
    ASSERT_THAT(WriteFileAtomically(path, content), IsOk());
    const absl::StatusOr<Arrays> read = ReadTorchFile(path);
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
  EXPECT_TRUE(IsTorchSave(*ReadFile(Path("state"))));
  EXPECT_FALSE(IsTorchSave("PK\x03\x04 archive/data.pkl archive/constants.pkl"));
  EXPECT_FALSE(IsTorchSave("archive/data.pkl"));
}

}  // namespace
}  // namespace openset
