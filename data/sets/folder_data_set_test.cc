#include "data/sets/folder_data_set.h"

#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/data_set_problems.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

class FolderDataSetTest : public ::testing::Test {
 protected:
  FolderDataSetTest() { std::filesystem::remove_all(root_); }

  void Put(const std::string& name, int count = 1) {
    const std::string image = *ReadFile("data/readers/testdata/rgb.png");
    for (int i = 0; i < count; ++i) WriteTestFile(absl::StrCat("images/", name, "/", i, ".png"), image);
  }
  absl::StatusOr<DataSetInfo> Describe() { return DescribeFolder({"mine", root_}); }

  const std::string root_ = JoinPath(::testing::TempDir(), "images");
};

TEST_F(FolderDataSetTest, SharesTheImagesOfEachClass) {
  Put("dog", 10);
  Put("cat", 3);
  Put("empty", 0);
  Put(".hidden", 2);
  std::filesystem::create_directories(root_ + "/empty");
  ASSERT_OK_AND_ASSIGN(const auto info, Describe());
  EXPECT_THAT(FindDataSetProblems(info), IsEmpty());
  EXPECT_THAT(info.class_name(), ElementsAre("cat", "dog"));
  // A fifth, rounded, at least one: 1 of 3, 2 of 10.
  EXPECT_THAT(FindPart(info, "test").value()->samples_per_class(), ElementsAre(1, 2));
  EXPECT_THAT(FindPart(info, "train").value()->samples_per_class(), ElementsAre(2, 8));
  EXPECT_THAT(FindPart(info, "all").value()->samples_per_class(), ElementsAre(3, 10));
  EXPECT_NE(*PartDigest(info, "train"), *PartDigest(info, "test"));
  EXPECT_THAT(CheckFiles(info, "train", {}), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto source, OpenPart(info, "test", {}));
  EXPECT_THAT(source->index().label, ElementsAre(0, 1, 1));
  EXPECT_THAT(source->Read({0, 2}), IsOk());
}

// Three images of a patient each, in two classes.
TEST_F(FolderDataSetTest, ClustersStayInOnePart) {
  Put("cat", 12);
  Put("dog", 12);
  FolderRequest request{"mine", root_};
  request.clusters = JoinPath(::testing::TempDir(), "patients.csv");
  std::string table = "image,cluster\n";
  for (const char* name : {"cat", "dog"}) {
    for (int i = 0; i < 12; ++i) absl::StrAppend(&table, name, "/", i, ".png,", name, i / 3, "\n");
  }
  ASSERT_THAT(WriteFileAtomically(request.clusters, table), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto info, DescribeFolder(request));
  EXPECT_THAT(FindDataSetProblems(info), IsEmpty());
  // A fifth of 12, rounded, is 2: one cluster.
  EXPECT_THAT(FindPart(info, "test").value()->samples_per_class(), ElementsAre(3, 3));
  EXPECT_THAT(FindPart(info, "train").value()->samples_per_class(), ElementsAre(9, 9));
  EXPECT_NE(*PartDigest(info, "train"), *PartDigest(*Describe(), "train"));
  EXPECT_THAT(CheckFiles(info, "train", {}), IsOk());
  std::map<std::string, std::set<std::string>> parts;  // of each patient
  for (const std::string part : {"train", "test"}) {
    const auto source = *OpenPart(info, part, {});
    EXPECT_EQ(source->index().cluster.size(), source->index().label.size());
    for (int64_t i = 0; i < source->index().size(); ++i) {
      const std::filesystem::path path = source->Describe(i);
      parts[absl::StrCat(path.parent_path().string(), std::stoi(path.stem()) / 3)].insert(part);
    }
  }
  EXPECT_EQ(parts.size(), 8);
  for (const auto& [patient, in] : parts) EXPECT_EQ(in.size(), 1) << patient;

  ASSERT_THAT(WriteFileAtomically(request.clusters, absl::StrCat(table, "cat/0.png,cat0\n")), IsOk());
  EXPECT_THAT(CheckFiles(info, "train", {}).message(), HasSubstr("patients.csv: SHA-256 is"));
  ASSERT_THAT(WriteFileAtomically(request.clusters, "image,cluster\ncat/0.png,x\n"), IsOk());
  EXPECT_THAT(DescribeFolder(request).status().message(), HasSubstr("has no line for this image"));
}

TEST_F(FolderDataSetTest, UsesExistingParts) {
  Put("train/cat", 2);
  Put("train/dog", 1);
  Put("val/dog", 3);
  ASSERT_OK_AND_ASSIGN(const auto info, Describe());
  EXPECT_THAT(FindPart(info, "train").value()->samples_per_class(), ElementsAre(2, 1));
  EXPECT_THAT(FindPart(info, "test").value()->samples_per_class(), ElementsAre(0, 3));
  EXPECT_THAT(CheckFiles(info, "test", {}), IsOk());
}

// The parts' digests are the same as without the third part, with the classes that the folder had before.
TEST_F(FolderDataSetTest, TestMayHaveMoreClassesAndValIsAThirdPart) {
  Put("train/cat", 2);
  Put("train/dog", 1);
  Put("test/dog", 3);
  const auto before = Describe();
  Put("val/cat", 1);
  Put("val/gnu", 1);
  ASSERT_OK_AND_ASSIGN(const auto third, Describe());
  EXPECT_THAT(third.class_name(), ElementsAre("cat", "dog"));
  EXPECT_THAT(FindPart(third, "val").value()->samples_per_class(), ElementsAre(1, 0));
  for (const char* part : {"train", "test"}) EXPECT_EQ(*PartDigest(third, part), *PartDigest(*before, part));
  EXPECT_THAT(LeftOutLines(root_, third), ElementsAre("left out: val/gnu (1 image, but no class has this name)"));

  Put("test/bee", 2);
  ASSERT_OK_AND_ASSIGN(const auto more, Describe());
  EXPECT_THAT(more.class_name(), ElementsAre("bee", "cat", "dog"));
  EXPECT_THAT(FindPart(more, "train").value()->samples_per_class(), ElementsAre(0, 2, 1));
  EXPECT_THAT(FindPart(more, "test").value()->samples_per_class(), ElementsAre(2, 0, 3));
  for (const char* part : {"train", "test", "val"}) EXPECT_THAT(CheckFiles(more, part, {}), IsOk());
  EXPECT_THAT(FewImagesLines(more),
              ElementsAre(HasSubstr("no image to train on: bee;"), HasSubstr("no image to test on: cat;")));
}

TEST_F(FolderDataSetTest, AFolderOfImagesIsOneClass) {
  const std::string image = *ReadFile("data/readers/testdata/rgb.png");
  for (int i = 0; i < 5; ++i) WriteTestFile(absl::StrCat("images/", i, ".png"), image);
  ASSERT_OK_AND_ASSIGN(const auto info, Describe());
  EXPECT_THAT(info.class_name(), ElementsAre("images"));
  EXPECT_EQ(FindPart(info, "all").value()->samples(), 5);
  EXPECT_THAT(CheckFiles(info, "all", {}), IsOk());
  EXPECT_THAT(LeftOutLines(root_, info), IsEmpty());
}

TEST_F(FolderDataSetTest, ReadsImagesInSubFolders) {
  Put("cat", 1);
  Put("cat/day2", 2);
  Put("cat/day1/b", 1);
  Put("dog/day1", 2);
  std::filesystem::create_directory_symlink(root_ + "/dog/day1", root_ + "/dog/again");
  EXPECT_THAT(LeftOutLines(root_, *Describe()),
              ElementsAre("left out: dog (1 without extension, 2 images in sub-folders)",
                          HasSubstr("images in sub-folders: 3 of cat; ")));
  FolderRequest request{"mine", root_};
  request.sub_folders = true;
  request.skip = {root_ + "/cat/day2/1.png"};
  ASSERT_OK_AND_ASSIGN(const auto info, DescribeFolder(request));
  EXPECT_THAT(LeftOutLines(root_, info), IsEmpty());
  ASSERT_OK_AND_ASSIGN(const auto all, OpenPart(info, "all", {}));
  EXPECT_THAT(all->index().label, ElementsAre(0, 0, 0, 1, 1));
  const std::vector<std::string> names = {"/cat/0.png", "/cat/day1/b/0.png", "/cat/day2/0.png", "/dog/day1/0.png",
                                          "/dog/day1/1.png"};
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(all->Describe(static_cast<int64_t>(i)), root_ + names[i]);
  EXPECT_THAT(all->Read({1, 4}), IsOk());
  EXPECT_THAT(CheckFiles(info, "all", {}), IsOk());
  std::filesystem::remove(root_ + "/cat/day1/b/0.png");
  EXPECT_THAT(CheckFiles(info, "all", {}), IsDataLoss("cat: has 2 images, not 3"));
}

// Images are skipped by their paths; a class of which nothing is left is no class.
TEST_F(FolderDataSetTest, SkipsImages) {
  Put("train/cat", 2);
  Put("train/dog", 2);
  Put("test/cat", 2);
  Put("test/dog", 1);
  FolderRequest request{"mine", root_};
  request.skip = {root_ + "/train/cat/0.png"};
  ASSERT_OK_AND_ASSIGN(const auto one, DescribeFolder(request));
  EXPECT_THAT(FindPart(one, "train").value()->samples_per_class(), ElementsAre(1, 2));
  EXPECT_THAT(FindPart(one, "test").value()->samples_per_class(), ElementsAre(2, 1));
  request.skip = {root_ + "/train/dog/0.png", root_ + "/train/dog/1.png"};
  ASSERT_OK_AND_ASSIGN(const auto only_tested, DescribeFolder(request));
  EXPECT_THAT(FindPart(only_tested, "train").value()->samples_per_class(), ElementsAre(2, 0));
  EXPECT_THAT(CheckFiles(only_tested, "train", {}), IsOk());
  request.skip.insert(root_ + "/test/dog/0.png");
  ASSERT_OK_AND_ASSIGN(const auto gone, DescribeFolder(request));
  EXPECT_THAT(gone.class_name(), ElementsAre("cat"));
  EXPECT_THAT(CheckFiles(gone, "train", {}), IsOk());
}

TEST_F(FolderDataSetTest, OtherFilesAreOtherData) {
  Put("cat", 4);
  const auto before = Describe();
  WriteTestFile("images/cat/0.png", "longer or shorter");
  const auto after = Describe();
  EXPECT_NE(*PartDigest(*before, "all"), *PartDigest(*after, "all"));
  EXPECT_THAT(CheckFiles(*before, "all", {}), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(FolderDataSetTest, SaysWhatIsWrong) {
  EXPECT_THAT(Describe(), StatusIs(absl::StatusCode::kNotFound, absl::StrCat("no such folder: ", root_)));
  std::filesystem::create_directories(root_ + "/cat");
  EXPECT_THAT(Describe(), IsInvalidArgument("no folder in it has images"));
  EXPECT_THAT(DescribeFolder({"mine", "images"}),
              StatusIs(absl::StatusCode::kInvalidArgument, "'images' is not an absolute path"));
}

TEST_F(FolderDataSetTest, ClassNamesAreUtf8) {
  Put("cat");
  Put("dog\xff");
  EXPECT_THAT(Describe(), IsInvalidArgument("images: the name of the folder 'dog\uFFFD' is not UTF-8"));
}

// "folder:/path" instead of a data set's name.
TEST_F(FolderDataSetTest, TheCatalogKnowsFolders) {
  Put("cat", 5);
  const Catalog catalog(std::vector<DataSetInfo>{});
  const Catalog copy = catalog;
  ASSERT_OK_AND_ASSIGN(const auto info, catalog.Find(absl::StrCat("folder:", root_)));
  EXPECT_EQ(info->name(), absl::StrCat("folder:", root_));
  EXPECT_EQ(*catalog.Find(info->name()), info) << "is looked at once";
  EXPECT_EQ(*copy.Find(info->name()), info);
  EXPECT_THAT(catalog.Find("folder:/nowhere"),
              StatusIs(absl::StatusCode::kNotFound, "data set 'folder:/nowhere': no such folder: /nowhere"));
  EXPECT_THAT(catalog.names(), IsEmpty());
}

// One image with other pixels makes another part, whatever lists the folder.
TEST_F(FolderDataSetTest, TheDigestDependsOnTheFilesContent) {
  Put("cat", 5);
  const auto digest = [this] {
    Catalog catalog(std::vector<DataSetInfo>{});
    const std::string name = absl::StrCat("folder:", root_);
    EXPECT_THAT(AddContentDigests(name, {"all"}, {}, &catalog), IsOk());
    return *PartDigest(**catalog.Find(name), "all");
  };
  const std::string before = digest();
  EXPECT_EQ(digest(), before);
  WriteTestFile("images/cat/3.png", *ReadFile("data/readers/testdata/grey.png"));
  EXPECT_NE(digest(), before);
  Catalog catalog(std::vector<DataSetInfo>{});
  EXPECT_EQ(catalog.FindMutable("folder:/nowhere"), nullptr);
}

}  // namespace
}  // namespace openset
