#include "data/sets/data_set_problems.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "data/testing/toy_data_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Problems(const DataSetInfo& info) {
  std::vector<std::string> lines;
  for (const FieldProblem& p : FindDataSetProblems(info)) lines.push_back(p.path + ": " + p.message);
  return lines;
}

TEST(FindDataSetProblems, AcceptsTheToy) { EXPECT_THAT(Problems(Parsed<DataSetInfo>(kToy)), IsEmpty()); }

TEST(FindDataSetProblems, NamesContradictions) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.mutable_layout(0)->mutable_part(0)->set_samples_per_class(1, 2);
  info.mutable_layout(0)->mutable_part(1)->set_name("train");
  info.mutable_layout(0)->mutable_part(1)->mutable_cifar_binary()->set_label_at(1);
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].samples_per_class: sums to 5, but samples is 4",
                                          "layout[0].part[1].cifar_binary.label_at: must be below label_bytes",
                                          "layout[0].part[1].name: 'train' is listed twice"));
}

TEST(FindDataSetProblems, NamesMissingClassesAndBadSums) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.add_class_name("c");
  info.mutable_layout(0)->mutable_part(1)->mutable_cifar_binary()->mutable_file(0)->add_sha256("AB");
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[0].part[0].samples_per_class: must have one number, or one for each of the 3 classes "
                          "(has 2)",
                          "layout[0].part[1].samples_per_class: sums to 6, but samples is 4",
                          "layout[0].part[1]: sha256 of toy/test.bin must be 64 lower-case hexadecimal digits"));
}

TEST(FindDataSetProblems, ClassNamesAreDistinct) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.set_class_name(1, info.class_name(0));
  EXPECT_THAT(Problems(info), ElementsAre("class_name[1]: 'a' is class 0 already"));
}

// If no folders are named, the classes' names are the folders.
TEST(FindDataSetProblems, ClassFoldersAreBelowTheirPart) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.set_channels(3);
  for (DataSetPart& part : *info.mutable_layout(0)->mutable_part()) part.mutable_image_folder()->set_path("photos");
  EXPECT_THAT(Problems(info), IsEmpty());
  info.set_class_name(0, "/etc");
  info.set_class_name(1, "b/../../c");
  EXPECT_THAT(Problems(info), ElementsAre(HasSubstr("class_name[0]: '/etc' begins with '/'"),
                                          HasSubstr("class_name[1]: 'b/../../c' has"), HasSubstr("class_name[0]"),
                                          HasSubstr("class_name[1]")));
  for (DataSetPart& part : *info.mutable_layout(0)->mutable_part()) {
    for (const char* folder : {"x", "y"}) part.mutable_image_folder()->add_class_folder(folder);
  }
  EXPECT_THAT(Problems(info), IsEmpty());
}

TEST(FindDataSetProblems, SumsDoNotOverflow) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  DataSetPart* part = info.mutable_layout(0)->mutable_part(0);
  for (int id = 0; id < 2; ++id) part->set_samples_per_class(id, std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[0].part[0].samples_per_class: sums to 9223372036854775807, but samples is 4"));
  part->set_samples(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].samples: must be at most 1000000000000"));
}

TEST(FindDataSetProblems, LimitsPixelsToWhatCanBeDecoded) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.set_height(1 << 13);
  info.set_width(1 << 13);
  EXPECT_THAT(Problems(info), IsEmpty());
  info.set_width((1 << 13) + 1);
  EXPECT_THAT(Problems(info), ElementsAre("height: an image has at most 67108864 pixels, not 8192 x 8193"));
  info.set_height(std::numeric_limits<int32_t>::max());
  info.set_width(std::numeric_limits<int32_t>::max());
  EXPECT_THAT(Problems(info), ElementsAre("height: an image has at most 67108864 pixels, not 2147483647 x 2147483647"));
}

TEST(FindDataSetProblems, FormatsHaveTheirNumberOfChannels) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.mutable_layout(0)->mutable_part(0)->mutable_idx()->mutable_images();
  info.mutable_layout(0)->mutable_part(1)->mutable_png_sheet()->mutable_labels();
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].idx: holds images of 1 channel",
                                          "layout[0].part[1].png_sheet: holds images of 3 channels"));
}

TEST(FindDataSetProblems, ImageFolders) {
  const std::string any = "channels: 3 height: 0 width: 0";
  EXPECT_THAT(Problems(Parsed<DataSetInfo>(FolderToy(any, ""))), IsEmpty());
  EXPECT_THAT(Problems(Parsed<DataSetInfo>(
                  FolderToy(any, absl::StrCat("class_folder: ['x', 'y/z'] listing_sha256: '", kSum, "'")))),
              IsEmpty());
  EXPECT_THAT(Problems(Parsed<DataSetInfo>(
                  FolderToy("channels: 2 height: 0 width: 7", "class_folder: 'x' listing_sha256: 'abc'"))),
              ElementsAre("layout[0].part[0].image_folder.class_folder: must have one folder for each of the 2 classes "
                          "(has 1)",
                          "layout[0].part[0].image_folder.listing_sha256: must be 64 lower-case hexadecimal digits",
                          "layout[0].part[0].image_folder: holds images of 1 or 3 channels, not 2",
                          "layout[0].part[0].image_folder: height and width must both be 0 if images have different "
                          "sizes"));
  DataSetInfo binary = Parsed<DataSetInfo>(kToy);
  binary.set_height(0);
  EXPECT_THAT(Problems(binary), ElementsAre("layout[0].part[0]: has images of one size: set height and width",
                                            "layout[0].part[1]: has images of one size: set height and width"));
}

TEST(FindDataSetProblems, LayoutsHoldTheSameSamples) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  *info.add_layout() = info.layout(0);
  EXPECT_THAT(Problems(info), IsEmpty());
  info.mutable_layout(1)->mutable_part(0)->set_samples_per_class(0, 1);
  info.mutable_layout(1)->mutable_part(0)->set_samples_per_class(1, 3);
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[1]: must have the parts of layout[0], with as many samples of each class"));
}

TEST(FindDataSetProblems, ContentIsTakenFromTheFiles) {
  DataSetInfo info = Parsed<DataSetInfo>(FolderToy("channels: 3 height: 0 width: 0", ""));
  info.mutable_layout(0)->mutable_part(0)->set_content_sha256(kSum);
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].content_sha256: is computed from the files: remove it"));
}

}  // namespace
}  // namespace openset
