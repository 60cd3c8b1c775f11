#include "data/sets/data_set.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/proto_rules.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/readers/image_folder.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/data_set_problems.h"
#include "data/testing/damage.h"
#include "data/testing/toy_data_set.h"

namespace openset {
namespace {

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
  ASSERT_OK_AND_ASSIGN(const ImageSet set, Load());
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 2));
  EXPECT_THAT(set.pixels, ElementsAre(10, 11, 12, 13, 14, 15));
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
  ASSERT_OK_AND_ASSIGN(const auto source, Open());
  EXPECT_THAT(source->index().label, ElementsAre(0, 1, 1));
  EXPECT_EQ((*source->Read({1}))[0].height, 17);
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
  // A time that no other file's change has.
  std::filesystem::last_write_time(JoinPath(b_, "folders/train/a/1.png"),
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(24));
  EXPECT_THAT(
      std::string(Check().message()),
      HasSubstr(absl::StrCat("the names and sizes of its images are not those of the catalog: files are missing, "
                             "new, renamed or of another size (the last to change was ",
                             JoinPath(b_, "folders/train/a/1.png"), "); fetch the files again")));
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

// The digest is there, and the messages on two of the three images.
TEST_F(FolderPartTest, ContentDigestFindsImagesThatAreCutShort) {
  Write("b/folders/train/a/1.png", "no image");
  Write("b/folders/train/b/images/2.jpg", ReadFile("data/readers/testdata/grey.jpg")->substr(0, 200));
  for (int time = 0; time < 2; ++time) {  // also the second time
    Catalog catalog({info_});
    std::vector<std::string> damaged;
    ASSERT_TRUE(AddContentDigests("folders", {"train"}, {a_, b_}, &catalog, nullptr, &damaged).ok());
    EXPECT_TRUE((*catalog.Find("folders"))->layout(0).part(0).has_content_sha256());
    EXPECT_THAT(damaged,
                UnorderedElementsAre(HasSubstr("train/a/1.png: not a PNG"),
                                     HasSubstr("train/b/images/2.jpg: not a valid JPEG image (Premature end")));
  }
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
  ASSERT_OK_AND_ASSIGN(const auto source, OpenPart(info_, "train", {a_}));
  EXPECT_THAT(source->index().label, ElementsAre(1, 0, 2));
  EXPECT_THAT((*source->Read({1}))[0].pixels, ElementsAre(12, 13));
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

// The second class of both parts of the toy: its samples are at positions 3 ("train"), 6 and 7 ("test").
class OpenSelectionTest : public ::testing::Test {
 protected:
  OpenSelectionTest() : catalog_({Parsed<DataSetInfo>(kToy)}), folder_(JoinPath(::testing::TempDir(), "open")) {
    EXPECT_THAT(MakeFolders(JoinPath(folder_, "toy")), IsOk());
    Write("train", {0, 0, 0, 1});
    Write("test", {0, 0, 1, 1});
    selection_ = Parsed<Selection>("data_set: 'toy' part: 'train' more { part: 'test' } class_id: 1");
  }

  // Each record is the label and two bytes of pixels, which say where the record is.
  void Write(const std::string& part, const std::vector<int>& labels) const {
    std::string bytes;
    for (const int label : labels) {
      bytes += static_cast<char>(label);
      bytes += std::string(2, static_cast<char>(10 * part.size() + bytes.size() / 3));
    }
    EXPECT_THAT(WriteFileAtomically(JoinPath(folder_, "toy/" + part + ".bin"), bytes), IsOk());
  }

  Catalog catalog_;
  std::string folder_;
  Selection selection_;
};

TEST_F(OpenSelectionTest, JoinsPartsAndSelects) {
  ASSERT_OK_AND_ASSIGN(const OpenedSelection opened, OpenSelection(selection_, catalog_, {folder_}));
  EXPECT_EQ(opened.source->index().size(), 8);
  EXPECT_THAT(opened.samples.index, ElementsAre(3, 6, 7));
  ASSERT_OK_AND_ASSIGN(const auto images, opened.source->Read(opened.samples.index));
  EXPECT_EQ(images[0].pixels[0], 10 * 5 + 3);
  EXPECT_EQ(images[2].pixels[0], 10 * 4 + 3);
}

TEST_F(OpenSelectionTest, CallsTheOpenerForEachPart) {
  std::vector<std::string> asked;
  const auto none = [&](const std::string& part) -> absl::StatusOr<std::shared_ptr<const ImageSource>> {
    asked.push_back(part);
    if (part == "test") return absl::NotFoundError("no " + part);
    return OpenSelection(Parsed<Selection>("data_set: 'toy' part: 'train' class_id: 1"), catalog_, {folder_})->source;
  };
  EXPECT_THAT(OpenSelection(selection_, **catalog_.Find("toy"), none),
              StatusIs(absl::StatusCode::kNotFound, "no test"));
  EXPECT_THAT(asked, ElementsAre("train", "test"));
}

TEST_F(OpenSelectionTest, Errors) {
  Selection other = selection_;
  other.set_data_set("other");
  EXPECT_THAT(OpenSelection(other, catalog_, {folder_}), IsNotFound("other"));
  EXPECT_THAT(OpenSelection(selection_, catalog_, {folder_ + "/absent"}), StatusIs(absl::StatusCode::kNotFound));
  Selection twice = selection_;
  twice.add_class_id(1);
  EXPECT_THAT(OpenSelection(twice, catalog_, {folder_}), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Tests parts in other formats than CIFAR's binary files and folders, through their catalog entries.

// Reads the files in data/readers/testdata.
class DataSetFormats : public ::testing::Test {
 protected:
  // `part`: fields of DataSetPart. Images are 3 x 4 x 5 unless `more`, fields of DataSetInfo, says otherwise.
  absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const std::string& part, const std::string& more = "") {
    info_ = ParsedWithDefaults<DataSetInfo>(
        absl::StrCat("name: 'set' class_name: ['zero', 'one', 'two', 'three', 'nine'] "
                     "channels: 3 ",
                     more.empty() ? "height: 4 width: 5 " : more, "layout { part { name: 'test' ", part, "} }"));
    for (const FieldProblem& problem : FindDataSetProblems(info_))
      ADD_FAILURE() << problem.path << ": " << problem.message;
    EXPECT_TRUE(CheckFiles(info_, "test", folders_).ok()) << CheckFiles(info_, "test", folders_);
    return OpenPart(info_, "test", folders_);
  }

  std::vector<std::string> folders_ = {"data/readers"};
  DataSetInfo info_;
};

constexpr char kCounts[] = "samples: 6 samples_per_class: [2, 1, 1, 1, 1] ";

TEST_F(DataSetFormats, Mat) {
  ASSERT_OK_AND_ASSIGN(
      const auto source,
      Open(absl::StrCat(kCounts, "mat { file { path: 'testdata/digits.mat' } class_label: [10, 1, 2, 3, 9] }")));
  EXPECT_THAT(source->index().label, ElementsAre(0, 1, 2, 4, 0, 3));
  EXPECT_EQ(Open(absl::StrCat(kCounts, "mat { file { path: 'testdata/digits.mat' } class_label: [10, 1, 2, 3, 8] }"))
                .status(),
            absl::DataLossError("data/readers/testdata/digits.mat: label 9 is not in class_label of the catalog"));
}

TEST_F(DataSetFormats, Npz) {
  ASSERT_OK_AND_ASSIGN(
      const auto source,
      Open(absl::StrCat(kCounts, "npz { images { path: 'testdata/pictures.npz' } class_label: [10, 1, 2, 3, 9] }")));
  EXPECT_THAT(source->index().label, ElementsAre(0, 1, 2, 4, 0, 3));
  EXPECT_EQ((*source->Read({5}))[0].pixels.size(), 60);
}

// Stored column by column: 2 x 3 in the file means 3 x 2.
TEST_F(DataSetFormats, TransposedIdxWithOtherLabels) {
  const std::string folder = ::testing::TempDir();
  WriteTestFile("t-images", std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x03", 16) + "abcdef");
  WriteTestFile("t-labels", std::string("\0\0\x08\x01\0\0\0\x01\x07", 9));
  info_ = Parsed<DataSetInfo>(
      "name: 'set' class_name: ['a', 'b'] channels: 1 height: 3 width: 2 layout { part { "
      "name: 'test' samples: 1 samples_per_class: [0, 1] idx { images { path: 't-images' } "
      "labels { path: 't-labels' } transposed: true class_label: [1, 7] } } }");
  ASSERT_OK_AND_ASSIGN(const auto set, LoadPart(info_, "test", {folder}));
  EXPECT_THAT(set.labels, ElementsAre(1));
  EXPECT_THAT(set.pixels, ElementsAre('a', 'd', 'b', 'e', 'c', 'f'));
}

TEST_F(DataSetFormats, Noise) {
  ASSERT_OK_AND_ASSIGN(const auto source,
                       Open("samples: 4 samples_per_class: [4, 0, 0, 0, 0] noise { seed: 1 uniform {} }"));
  EXPECT_EQ(source->index().size(), 4);
  EXPECT_EQ((*source->Read({3}))[0].pixels.size(), 60);
  // The digest of a generated part is its generator's.
  const std::string digest = *PartDigest(info_, "test");
  info_.mutable_layout(0)->mutable_part(0)->mutable_noise()->set_seed(2);
  EXPECT_NE(*PartDigest(info_, "test"), digest);
}

TEST_F(DataSetFormats, ImageList) {
  const std::string list = WriteTestFile("lists/list.txt", "rgb.png 4\ngrey.jpg 0\n");
  folders_.push_back(list.substr(0, list.size() - std::string("/lists/list.txt").size()));
  ASSERT_OK_AND_ASSIGN(const auto source, Open("samples: 2 samples_per_class: [1, 0, 0, 0, 1] image_list { path: "
                                               "'testdata' list { path: 'lists/list.txt' } }",
                                               "height: 0 width: 0 "));
  EXPECT_THAT(source->index().label, ElementsAre(4, 0));
  EXPECT_EQ((*source->Read({0}))[0].height, 17);
  WriteTestFile("lists/list.txt", "rgb.png 4\nabsent.jpg 0\n");
  EXPECT_EQ(CheckFiles(info_, "test", folders_),
            absl::NotFoundError(
                absl::StrCat("data/readers/testdata/absent.jpg: is listed in ", list, ", but does not exist")));
  WriteTestFile("lists/list.txt", "rgb.png 4\ngrey.jpg 1\n");
  EXPECT_EQ(OpenPart(info_, "test", folders_).status(),
            absl::DataLossError(absl::StrCat(list,
                                             ": class 0 (zero): has 0 images, not 1 as the catalog says of part "
                                             "'test' of data set 'set'; fetch the files again")));
}

TEST_F(DataSetFormats, MissingFilesSayWhatToRun) {
  info_ = Parsed<DataSetInfo>(
      "name: 'set' class_name: 'a' channels: 3 height: 1 width: 1 fetch { by_hand: 'ask' } layout "
      "{ part { name: 'test' samples: 1 samples_per_class: 1 mat { file { path: 'x.mat' } } } }");
  EXPECT_EQ(CheckFiles(info_, "test", {"/data"}),
            absl::NotFoundError("data set 'set': x.mat is in none of the data folders (/data); run 'openset data fetch "
                                "set'"));
}

}  // namespace
}  // namespace openset
