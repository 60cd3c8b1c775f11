#include "data/sets/open_selection.h"

#include <string>

#include "core/files/files.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/testing/toy_data_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  const absl::StatusOr<OpenedSelection> opened = OpenSelection(selection_, catalog_, {folder_});
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->source->index().size(), 8);
  EXPECT_THAT(opened->samples.index, ElementsAre(3, 6, 7));
  const auto images = opened->source->Read(opened->samples.index);
  ASSERT_THAT(images, IsOk());
  EXPECT_EQ((*images)[0].pixels[0], 10 * 5 + 3);
  EXPECT_EQ((*images)[2].pixels[0], 10 * 4 + 3);
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
  EXPECT_THAT(OpenSelection(other, catalog_, {folder_}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("other")));
  EXPECT_THAT(OpenSelection(selection_, catalog_, {folder_ + "/absent"}), StatusIs(absl::StatusCode::kNotFound));
  Selection twice = selection_;
  twice.add_class_id(1);
  EXPECT_THAT(OpenSelection(twice, catalog_, {folder_}), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace openset
