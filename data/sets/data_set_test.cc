#include "data/sets/data_set.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/parsed.h"
#include "data/catalog.h"
#include "data/readers/image_folder.h"
#include "data/sets/data_set_parts.h"
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
    info_ = Parsed<DataSetInfo>(R"(
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
      })");
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
      absl::StrCat(" in none of the data folders (", a_, ", ", b_, "); available from https://toy.example; or a shop");
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

// Two classes of images of any size, "b" in the folder "b/images".
class FolderPartTest : public DataSetTest {
 protected:
  FolderPartTest() {
    info_ = Parsed<DataSetInfo>(R"(
      name: "folders"
      class_name: ["a", "b"]
      channels: 3
      height: 0
      width: 0
      layout {
        part {
          name: "train"
          samples: 3
          samples_per_class: [1, 2]
          image_folder { path: "folders/train" class_folder: ["a", "b/images"] }
        }
      })");
    Copy("b/folders/train/a/1.png", "grey.png");
    Copy("b/folders/train/b/images/1.jpg", "rgb.jpg");
    Copy("b/folders/train/b/images/2.jpg", "grey.jpg");
  }

  void Copy(const std::string& name, const std::string& file) {
    Write(name, *ReadFile(JoinPath("data/readers/testdata", file)));
  }
  absl::StatusOr<std::shared_ptr<const ImageSource>> Open() { return OpenPart(info_, "train", {a_, b_}); }
};

TEST_F(FolderPartTest, IsListedAndReadLater) {
  EXPECT_TRUE(Check().ok()) << Check();
  const auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->index().label, ElementsAre(0, 1, 1));
  EXPECT_EQ((*(*source)->Read({1}))[0].height, 17);
  Write("b/folders/train/b/images/2.jpg", "no image");  // not noticed before it is read
  EXPECT_TRUE(Open().ok());
  EXPECT_EQ((*Open())->Read({2}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Load().status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(FolderPartTest, MissingAndOtherFilesAreNamed) {
  Copy("b/folders/train/b/images/3.jpg", "grey.jpg");
  const absl::Status more = absl::DataLossError(absl::StrCat(
      JoinPath(b_, "folders/train/b/images"),
      ": has 3 images, not 2 as the catalog says of part 'train' of data set 'folders'; fetch the files again"));
  EXPECT_EQ(Check(), more);
  EXPECT_EQ(Open().status(), more);
  std::filesystem::remove_all(JoinPath(b_, "folders/train/a"));
  EXPECT_EQ(Check().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Check().message()), HasSubstr(JoinPath(b_, "folders/train/a")));
  std::filesystem::remove_all(b_);
  EXPECT_THAT(std::string(Check().message()),
              HasSubstr("data set 'folders': folders/train is in none of the data folders"));
}

TEST_F(FolderPartTest, TheListingIsCompared) {
  info_.mutable_layout(0)->mutable_part(0)->mutable_image_folder()->set_listing_sha256(
      *ListingDigest(JoinPath(b_, "folders/train"), {"a", "b/images"}));
  EXPECT_TRUE(Check().ok()) << Check();
  Write("b/folders/train/a/1.png", "cut");
  EXPECT_EQ(Check().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(Check().message()), HasSubstr("SHA-256 of the names and sizes of its images is"));
}

TEST_F(FolderPartTest, ContentDigestDependsOnTheImages) {
  const auto line = [](const std::string& name, const std::string& file) {
    return absl::StrCat(name, " ", Sha256Hex(*ReadFile(JoinPath("data/readers/testdata", file))), "\n");
  };
  const std::string content =
      Sha256Hex(absl::StrCat("/a ", Sha256Hex(line("1.png", "grey.png")), "\n/b/images ",
                             Sha256Hex(line("1.jpg", "rgb.jpg") + line("2.jpg", "grey.jpg")), "\n"));
  Catalog catalog({info_});
  const auto digest = [&] { return (*catalog.Find("folders"))->layout(0).part(0).content_sha256(); };
  std::vector<std::string> told;
  const auto tell = [&](const std::string& what, int64_t done, int64_t total) {
    told.push_back(absl::StrCat(what, " ", done, "/", total));
  };
  ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_, b_}, &catalog, tell).ok());
  EXPECT_EQ(digest(), content);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0], absl::StrCat("hashing folders train 1/", told.size()));
  EXPECT_EQ(told.back(), absl::StrCat("hashing folders train ", told.size(), "/", told.size()));
  // No other part gets a digest.
  catalog = Catalog({info_});
  ASSERT_TRUE(AddContentDigests("folders", {"test", "none"}, {a_, b_}, &catalog).ok());
  EXPECT_EQ(digest(), "");
  ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_, b_}, &catalog).ok());
  EXPECT_EQ(digest(), content);
  // Another image of the same name; then none at all.
  Copy("b/folders/train/b/images/2.jpg", "rgb.jpg");
  ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_, b_}, &catalog).ok());
  EXPECT_EQ(digest(), content);  // the digest was already set
  catalog = Catalog({info_});
  ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_, b_}, &catalog).ok());
  EXPECT_NE(digest(), content);
  catalog = Catalog({info_});
  EXPECT_TRUE(AddContentDigests("folders", {"train"}, {a_}, &catalog).ok());
  EXPECT_EQ(digest(), "");
  EXPECT_TRUE(AddContentDigests("no such set", {"train"}, {a_}, &catalog).ok());
}

TEST_F(FolderPartTest, CountsFilesIfTheCatalogHasLimits) {
  DataSetPart* part = info_.mutable_layout(0)->mutable_part(0);
  part->mutable_image_folder()->set_count_files(true);
  part->clear_samples_per_class();
  part->add_samples_per_class(2);
  part->set_samples(4);
  EXPECT_TRUE(Check().ok()) << Check();
  Catalog catalog({info_});
  const auto now = [&] { return (*catalog.Find("folders"))->layout(0).part(0); };
  // Without the files: the catalog's limits, and a digest that no files have.
  ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_}, &catalog).ok());
  EXPECT_EQ(now().samples(), 4);
  const std::string without = *PartDigest(**catalog.Find("folders"), "train");
  ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_, b_}, &catalog).ok());
  EXPECT_EQ(now().samples(), 3);
  EXPECT_THAT(now().samples_per_class(), ElementsAre(1, 2));
  const std::string with = *PartDigest(**catalog.Find("folders"), "train");
  EXPECT_NE(with, without);
  // On a machine without the files, results are found by the digest of the files' content.
  DataSetInfo elsewhere = info_;
  elsewhere.mutable_layout(0)->mutable_part(0)->set_content_sha256(now().content_sha256());
  EXPECT_EQ(*PartDigest(elsewhere, "train"), with);
  // More images than the catalog allows.
  Copy("b/folders/train/b/images/3.jpg", "grey.jpg");
  EXPECT_THAT(std::string(Check().message()), HasSubstr("has 3 images, not 1 to 2 as the catalog says"));
}

TEST_F(FolderPartTest, ImagesOfListsAreCountedToo) {
  DataSetPart* part = info_.mutable_layout(0)->mutable_part(0);
  part->clear_samples_per_class();
  part->add_samples_per_class(2);
  part->set_samples(4);
  *part->mutable_image_list() = Parsed<ImageListFiles>(
      R"(path: "folders/train" list { path: "folders/list.txt" } class_by: NAME count_files: true)");
  FillDefaults(part);
  Write("b/folders/list.txt", "b/images/1.jpg b\nb/images/2.jpg b\na/1.png a\n");
  EXPECT_TRUE(Check().ok()) << Check();
  Catalog catalog({info_});
  ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_, b_}, &catalog).ok());
  EXPECT_THAT((*catalog.Find("folders"))->layout(0).part(0).samples_per_class(), ElementsAre(1, 2));
  Write("b/folders/list.txt", "b/images/1.jpg b\n");
  EXPECT_THAT(std::string(Check().message()), HasSubstr("list.txt: class 0 (a): has 0 images, not 1 to 2"));
}

TEST_F(DataSetTest, HashesFilesWithoutAChecksum) {
  Write("a/toy/first.bin", "\x01\x0a\x0b");
  Write("a/toy/rest.bin", "rest");
  const std::string content = absl::StrCat(Sha256Hex("\x01\x0a\x0b"), "\n", Sha256Hex("rest"), "\n");
  EXPECT_EQ(*ContentDigest(info_, "train", {a_}), Sha256Hex(content));
  Catalog catalog({info_});
  ASSERT_TRUE(AddContentDigests("toy", {"train"}, {a_}, &catalog).ok());
  EXPECT_EQ((*catalog.Find("toy"))->layout(0).part(0).content_sha256(), Sha256Hex(content));
  EXPECT_THAT(ContentDigest(info_, "train", {}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DataSetTest, BinaryPartsAreSourcesToo) {
  Write("a/toy/first.bin", "\x01\x0a\x0b");
  Write("a/toy/rest.bin", std::string("\x00\x0c\x0d\x02\x0e\x0f", 6));
  const auto source = OpenPart(info_, "train", {a_});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->index().label, ElementsAre(1, 0, 2));
  EXPECT_THAT((*(*source)->Read({1}))[0].pixels, ElementsAre(12, 13));
}

TEST_F(DataSetTest, ChecksMD5WithoutSHA256) {
  Write("a/toy/first.bin", "abc");
  Write("a/toy/rest.bin", "abcdef");
  DataFile* file = info_.mutable_layout(0)->mutable_part(0)->mutable_cifar_binary()->mutable_file(0);
  file->set_md5("900150983cd24fb0d6963f7d28e17f72");  // RFC 1321
  EXPECT_TRUE(Check().ok()) << Check();
  file->set_md5(std::string(32, '0'));
  EXPECT_THAT(std::string(Check().message()), HasSubstr("a/toy/first.bin: MD5 is 900150983cd24fb0d6963f7d28e17f72"));
  file->add_sha256(Sha256Hex("abc"));
  EXPECT_TRUE(Check().ok()) << "the SHA-256 decides";
}

}  // namespace
}  // namespace openset
