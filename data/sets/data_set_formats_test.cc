// Tests parts in other formats than CIFAR's binary files and folders, through their catalog entries.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/proto/proto_rules.h"
#include "core/testing/parsed.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/data_set_problems.h"
#include "data/testing/damage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

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
  const auto source =
      Open(absl::StrCat(kCounts, "mat { file { path: 'testdata/digits.mat' } class_label: [10, 1, 2, 3, 9] }"));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->index().label, ElementsAre(0, 1, 2, 4, 0, 3));
  EXPECT_EQ(Open(absl::StrCat(kCounts, "mat { file { path: 'testdata/digits.mat' } class_label: [10, 1, 2, 3, 8] }"))
                .status(),
            absl::DataLossError("data/readers/testdata/digits.mat: label 9 is not in class_label of the catalog"));
}

TEST_F(DataSetFormats, Npz) {
  const auto source =
      Open(absl::StrCat(kCounts, "npz { images { path: 'testdata/pictures.npz' } class_label: [10, 1, 2, 3, 9] }"));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->index().label, ElementsAre(0, 1, 2, 4, 0, 3));
  EXPECT_EQ((*(*source)->Read({5}))[0].pixels.size(), 60);
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
  const auto set = LoadPart(info_, "test", {folder});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(set->labels, ElementsAre(1));
  EXPECT_THAT(set->pixels, ElementsAre('a', 'd', 'b', 'e', 'c', 'f'));
}

TEST_F(DataSetFormats, Noise) {
  const auto source = Open("samples: 4 samples_per_class: [4, 0, 0, 0, 0] noise { seed: 1 uniform {} }");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->index().size(), 4);
  EXPECT_EQ((*(*source)->Read({3}))[0].pixels.size(), 60);
  // The digest of a generated part is that of its generator.
  const std::string digest = *PartDigest(info_, "test");
  info_.mutable_layout(0)->mutable_part(0)->mutable_noise()->set_seed(2);
  EXPECT_NE(*PartDigest(info_, "test"), digest);
}

TEST_F(DataSetFormats, ImageList) {
  const std::string list = WriteTestFile("lists/list.txt", "rgb.png 4\ngrey.jpg 0\n");
  folders_.push_back(list.substr(0, list.size() - std::string("/lists/list.txt").size()));
  const auto source = Open(
      "samples: 2 samples_per_class: [1, 0, 0, 0, 1] image_list { path: 'testdata' list { path: 'lists/list.txt' } }",
      "height: 0 width: 0 ");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->index().label, ElementsAre(4, 0));
  EXPECT_EQ((*(*source)->Read({0}))[0].height, 17);
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
