#include "data/data_set.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "data/testing/damage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DataSetTest : public ::testing::Test {
 protected:
  DataSetTest() {
    std::filesystem::remove_all(a_);
    std::filesystem::remove_all(b_);
    EXPECT_TRUE(ParseTextProto(R"(
      name: "toy"
      source: "https://toy.example"
      source: "a shop"
      class_name: ["a", "b", "c"]
      channels: 1
      height: 1
      width: 2
      layout {
        part {
          name: "train"
          samples: 3
          samples_per_class: 1
          cifar_binary { file { path: "toy/first.bin" } file { path: "toy/rest.bin" } }
        }
      }
      layout {
        part {
          name: "train"
          samples: 3
          samples_per_class: 1
          cifar_binary { file { path: "toy/labels_first.bin" } file { path: "toy/x.bin" } file { path: "toy/y.bin" } }
        }
      })",
                               "text", &info_)
                    .ok());
  }

  absl::StatusOr<ImageSet> Load(const std::string& part = "train") { return LoadPart(info_, part, {a_, b_}); }
  absl::Status Check() { return CheckFiles(info_, "train", {a_, b_}); }
  void SetSum(const std::string& sum) {
    info_.mutable_layout(0)->mutable_part(0)->mutable_cifar_binary()->mutable_file(1)->add_sha256(sum);
  }
  std::string Write(const std::string& name, const std::string& content) {
    WriteTestFile(name, content);
    return JoinPath(::testing::TempDir(), name);
  }

  const std::string a_ = JoinPath(::testing::TempDir(), "a");
  const std::string b_ = JoinPath(::testing::TempDir(), "b");
  DataSetInfo info_;
};

TEST_F(DataSetTest, FindsEachFileInTheFirstFolderThatHasIt) {
  Write("b/toy/first.bin", "\x01\x0a\x0b");
  Write("b/toy/rest.bin", "\x02\x63\x63\x02\x63\x63");
  Write("a/toy/rest.bin", std::string("\x00\x0c\x0d\x02\x0e\x0f", 6));
  const absl::StatusOr<ImageSet> set = Load();
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(set->labels, ElementsAre(1, 0, 2));
  EXPECT_THAT(set->pixels, ElementsAre(10, 11, 12, 13, 14, 15));
  EXPECT_TRUE(Check().ok());
}

TEST_F(DataSetTest, ReadsTheFirstCompleteLayout) {
  Write("a/toy/labels_first.bin", std::string("\x00\x01\x01", 3));
  Write("a/toy/x.bin", "\x01\x02\x02");
  Write("a/toy/y.bin", "\x02\x03\x03");
  Write("a/toy/first.bin", "\x01\x0a\x0b");
  ASSERT_TRUE(Load().ok());
  EXPECT_THAT(Load()->pixels, ElementsAre(1, 1, 2, 2, 3, 3));
  Write("a/toy/rest.bin", std::string("\x00\x0c\x0d\x02\x0e\x0f", 6));
  EXPECT_THAT(Load()->pixels, ElementsAre(10, 11, 12, 13, 14, 15));
}

TEST_F(DataSetTest, MissingFilesAreNamedWithFoldersAndSources) {
  const std::string where =
      absl::StrCat(" in none of the data folders (", a_, ", ", b_, "); to be had from https://toy.example; or a shop");
  EXPECT_EQ(Load().status(),
            absl::NotFoundError(absl::StrCat("data set 'toy': toy/first.bin and 1 other file are", where)));
  Write("a/toy/first.bin", "\x01\x0a\x0b");
  EXPECT_EQ(Check(), absl::NotFoundError(absl::StrCat("data set 'toy': toy/rest.bin is", where)));
  EXPECT_THAT(std::string(LoadPart(info_, "train", {}).status().message()),
              HasSubstr("are in none of the data folders ();"));
  EXPECT_EQ(Load("test").status(), absl::NotFoundError("data set 'toy': unknown part 'test' (known: train)"));
}

TEST_F(DataSetTest, WrongChecksumsAreNamed) {
  Write("a/toy/first.bin", "\x01\x0a\x0b");
  const std::string content("\x00\x0c\x0d\x02\x0e\x0f", 6);
  const std::string path = Write("a/toy/rest.bin", content);
  const std::string wanted(64, 'a');
  SetSum(wanted);
  EXPECT_EQ(Check(), absl::DataLossError(absl::StrCat(path, ": SHA-256 is ", Sha256Hex(content), ", not ", wanted,
                                                      "; fetch the file again")));
  SetSum(Sha256Hex(content));
  EXPECT_TRUE(Check().ok());
}

TEST_F(DataSetTest, OtherImagesThanTheCatalogsAreRefused) {
  const std::string first = Write("a/toy/first.bin", "\x01\x0a\x0b");
  const std::string rest = Write("a/toy/rest.bin", "\x02\x0c\x0d");
  const auto error = [&](const std::string& what) {
    return absl::DataLossError(
        absl::StrCat(first, ", ", rest, ": part 'train' of data set 'toy' ", what, "; fetch the files again"));
  };
  EXPECT_EQ(Load().status(), error("has 2 samples, not 3"));
  Write("a/toy/rest.bin", "\x02\x0c\x0d\x03\x0e\x0f");
  EXPECT_EQ(Load().status(), error("has a sample of class 3 (0 to 2)"));
  Write("a/toy/rest.bin", "\x02\x0c\x0d\x01\x0e\x0f");
  EXPECT_EQ(Load().status(), error("has 0 samples of class 0, not 1"));
  Write("a/toy/rest.bin", "\x02\x0c\x0d\x01");
  EXPECT_THAT(std::string(Load().status().message()), HasSubstr("not a number of whole records of 3 bytes"));
}

}  // namespace
}  // namespace openset
