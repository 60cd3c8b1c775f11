#include "experiments/worker/action_context.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/sets/data_set_parts.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

// One part of a data set: "a.png" and "b.png" of class 0, "c.png" of class 1, or as much in one file.
class ImageCacheTest : public ::testing::TestWithParam<const char*> {
 protected:
  ImageCacheTest()
      : folder_(JoinPath(testing::TempDir(), testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    const std::string png = *ReadFile("data/readers/testdata/rgb.png");
    for (const char* path : {"zero/a.png", "zero/b.png", "one/c.png"}) Put(path, png);
    Put("list.txt", "zero/a.png 0\nzero/b.png 0\none/c.png 1\n");
    std::string cifar;
    for (const int label : {0, 0, 1}) cifar += static_cast<char>(label) + std::string(3072, 'p');
    Put("cifar.bin", cifar);
    Catalog planned({Info()});
    EXPECT_THAT(AddContentDigests("set", {"test"}, {folder_}, &planned), IsOk());
    selection_ = Parsed<Selection>("data_set: 'set' part: 'test' class_id: [0, 1] limit_per_class: 1");
    selection_.set_part_digest(*PartDigest(**planned.Find("set"), "test"));
  }

  bool is_packed() const { return absl::string_view(GetParam()).substr(0, 5) == "cifar"; }

  DataSetInfo Info() const {
    return Parsed<DataSetInfo>(absl::StrCat(
        "name: 'set' class_name: ['zero', 'one'] channels: 3 height: ", is_packed() ? "32 width: 32" : "0 width: 0",
        " layout { part { name: 'test' samples: 3 samples_per_class: [2, 1] ", GetParam(), " } }"));
  }

  void Put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(JoinPath(folder_, path)).parent_path());
    ASSERT_THAT(WriteFileAtomically(JoinPath(folder_, path), content), IsOk());
  }

  absl::Status Use() { return images_.MakeBatcher(selection_, 3, at::kCPU).status(); }

  // A file that the first sample of each class needs.
  std::string Needed() const { return is_packed() ? "cifar.bin" : "zero/a.png"; }

  const std::string folder_;
  Selection selection_;
  ImageCache images_{Catalog({Info()}), {folder_}};
};

TEST_P(ImageCacheTest, ChangesWithinAnActionFailIt) {
  const std::string before = *ReadFile(JoinPath(folder_, Needed()));
  std::string other = before;
  other.back() ^= 1;
  ASSERT_THAT(Use(), IsOk());
  EXPECT_THAT(images_.CheckUnchanged(), IsOk());
  Put(Needed(), other);
  const absl::Status changed = images_.CheckUnchanged();
  EXPECT_TRUE(absl::IsDataLoss(changed)) << changed;
  EXPECT_THAT(changed.message(), HasSubstr(JoinPath(folder_, Needed())));
  // From now on, the part is not the planned one, until the old file is back.
  images_.BeginAction();
  EXPECT_TRUE(absl::IsDataLoss(Use()));
  Put(Needed(), before);
  images_.BeginAction();
  EXPECT_THAT(Use(), IsOk());
  EXPECT_THAT(images_.CheckUnchanged(), IsOk());
}

TEST_P(ImageCacheTest, ChangesBetweenActionsAreNoticed) {
  const std::string before = *ReadFile(JoinPath(folder_, Needed()));
  std::string other = before;
  other.back() ^= 1;
  ASSERT_THAT(Use(), IsOk());
  images_.BeginAction();
  Put(Needed(), other);
  EXPECT_TRUE(absl::IsDataLoss(Use()));
  images_.BeginAction();
  Put(Needed(), before);
  EXPECT_THAT(Use(), IsOk());
  // The same bytes again are no change of the part, but no action may read them while they are written.
  Put(Needed(), before);
  EXPECT_TRUE(absl::IsDataLoss(images_.CheckUnchanged()));
  images_.BeginAction();
  EXPECT_THAT(Use(), IsOk());
  EXPECT_THAT(images_.CheckUnchanged(), IsOk());
}

// The other selection of the action may have read bytes that were there in between.
TEST_P(ImageCacheTest, AChangeBetweenTwoSelectionsOfAnActionFailsIt) {
  const std::string before = *ReadFile(JoinPath(folder_, Needed()));
  ASSERT_THAT(Use(), IsOk());
  Put(Needed(), before);
  EXPECT_TRUE(absl::IsDataLoss(Use()));
  images_.BeginAction();
  EXPECT_THAT(Use(), IsOk());
  EXPECT_THAT(Use(), IsOk());
  EXPECT_THAT(images_.CheckUnchanged(), IsOk());
}

TEST_P(ImageCacheTest, AFileThatDisappearsIsAChange) {
  ASSERT_THAT(Use(), IsOk());
  std::filesystem::remove(JoinPath(folder_, Needed()));
  EXPECT_THAT(images_.CheckUnchanged().message(), HasSubstr(JoinPath(folder_, Needed())));
  images_.BeginAction();
  EXPECT_FALSE(Use().ok());
}

// Only the states of files that the action reads are compared after it.
TEST_P(ImageCacheTest, FilesThatTheActionDoesNotReadMayChange) {
  if (is_packed()) return;
  ASSERT_THAT(Use(), IsOk());
  Put("zero/b.png", "other");
  EXPECT_THAT(images_.CheckUnchanged(), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Formats, ImageCacheTest,
                         ::testing::Values("image_folder { path: '' }",
                                           "image_list { path: '' list { path: 'list.txt' } }",
                                           "cifar_binary { file { path: 'cifar.bin' } }"));

class ImageListCacheTest : public ImageCacheTest {};

TEST_P(ImageListCacheTest, TheListCountsToo) {
  ASSERT_THAT(Use(), IsOk());
  Put("list.txt", "zero/b.png 0\nzero/a.png 0\none/c.png 1\n");
  EXPECT_THAT(images_.CheckUnchanged().message(), HasSubstr(JoinPath(folder_, "list.txt")));
}

INSTANTIATE_TEST_SUITE_P(Formats, ImageListCacheTest,
                         ::testing::Values("image_list { path: '' list { path: 'list.txt' } }"));

// The catalog has the file's checksum: it is compared when the worker first reads the file, not only before the run.
TEST(ImageCache, ComparesTheCatalogsChecksum) {
  std::string cifar(2 * 3073, 'p');
  cifar[0] = 0, cifar[3073] = 1;
  const std::string path = WriteTestFile("sums/cifar.bin", cifar);
  const Catalog catalog({Parsed<DataSetInfo>(
      absl::StrCat("name: 'set' class_name: ['zero', 'one'] channels: 3 height: 32 width: 32 layout { part { name: "
                   "'test' samples: 2 "
                   "samples_per_class: [1, 1] cifar_binary { file { path: 'sums/cifar.bin' sha256: '",
                   Sha256Hex(cifar), "' } } } }"))});
  const auto selection = Parsed<Selection>("data_set: 'set' part: 'test' class_id: [0, 1]");
  EXPECT_THAT(ImageCache(catalog, {testing::TempDir()}).MakeBatcher(selection, 3, at::kCPU).status(), IsOk());
  cifar.back() ^= 1;
  WriteTestFile("sums/cifar.bin", cifar);
  const absl::Status status = ImageCache(catalog, {testing::TempDir()}).MakeBatcher(selection, 3, at::kCPU).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr(path));
}

}  // namespace
}  // namespace openset
