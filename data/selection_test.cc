#include "data/selection.h"

#include "core/proto/text_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

// Samples 0 to 7 of classes 2 0 2 1 0 2 1 7.
SampleIndex TestIndex() {
  SampleIndex index;
  index.label = {2, 0, 2, 1, 0, 2, 1, 7};
  return index;
}

absl::StatusOr<SelectedSamples> Select(const std::string& text) {
  Selection selection;
  EXPECT_TRUE(ParseTextProto("data_set: 'toy' part: 'train' " + text, "text", &selection).ok());
  return SelectSamples(TestIndex(), selection);
}

TEST(SelectSamples, KeepsTheStoredOrderAndLabelsByPlace) {
  const absl::StatusOr<SelectedSamples> samples = Select("class_id: [2, 7, 0]");
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_THAT(samples->index, ElementsAre(0, 1, 2, 4, 5, 7));
  EXPECT_THAT(samples->label, ElementsAre(0, 2, 0, 2, 0, 1));
  EXPECT_EQ(samples->size(), 6);
}

TEST(SelectSamples, TakesTheFirstOfEachClass) {
  EXPECT_THAT(Select("class_id: [0, 2] limit_per_class: 1")->index, ElementsAre(0, 1));
  EXPECT_THAT(Select("class_id: [0, 2] limit_per_class: 2")->index, ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(Select("class_id: [0, 2] limit_per_class: 9")->index, ElementsAre(0, 1, 2, 4, 5));
}

// Class 2 is at 0, 2, 5; class 0 at 1, 4.
TEST(SelectSamples, SetsTheLastOfEachClassApart) {
  EXPECT_THAT(Select("class_id: [0, 2] without_last_per_class: 1")->index, ElementsAre(0, 1, 2));
  EXPECT_THAT(Select("class_id: [0, 2] only_last_per_class: 1")->index, ElementsAre(4, 5));
  EXPECT_THAT(Select("class_id: [0, 2] without_last_per_class: 1 limit_per_class: 1")->index, ElementsAre(0, 1));
  EXPECT_THAT(Select("class_id: [0, 2] only_last_per_class: 2 limit_per_class: 1")->index, ElementsAre(1, 2));
  EXPECT_THAT(Select("class_id: [0, 2] only_last_per_class: 9")->index, ElementsAre(0, 1, 2, 4, 5));
  EXPECT_EQ(Select("class_id: [2, 0] without_last_per_class: 2").status(),
            absl::InvalidArgumentError("class_id[1]: part 'train' of data set 'toy' has only the 2 samples that are "
                                       "kept for validation of class 0"));
}

TEST(SelectSamples, NamesTheClass) {
  EXPECT_EQ(Select("class_id: [0, 2, 0]").status(), absl::InvalidArgumentError("class_id[2]: class 0 is listed twice"));
  EXPECT_EQ(Select("class_id: [0, 3]").status(),
            absl::InvalidArgumentError("class_id[1]: part 'train' of data set 'toy' has no sample of class 3"));
}

}  // namespace
}  // namespace openset
