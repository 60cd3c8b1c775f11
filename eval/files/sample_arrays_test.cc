#include "eval/files/sample_arrays.h"

#include <cstring>
#include <limits>
#include <utility>

#include "core/testing/status_matchers.h"
#include "eval/files/sample_set.h"

namespace openset {
namespace {

template <typename T>
ArrayView View(const std::string& name, const std::string& type, const std::vector<T>& values,
               std::vector<int64_t> shape) {
  ArrayView view;
  view.name = name;
  view.type = type;
  view.item_bytes = sizeof(T);
  view.data = values.data();
  view.shape = std::move(shape);
  return view;
}

std::string ErrorOf(const std::vector<ArrayView>& arrays) {
  return std::string(ScoreFileOfArrays("samples", arrays).status().message());
}

const std::vector<int64_t> kLabel = {0, 1, -1};
const std::vector<float> kLogits = {3, 1, 0, 2, 1, 1};

TEST(SampleArraysTest, UsesLargeArraysInPlace) {
  ASSERT_OK_AND_ASSIGN(ScoreFile file, ScoreFileOfArrays("samples", {View("label", "<i8", kLabel, {3}),
                                                                     View("logits", "<f4", kLogits, {3, 2})}));
  EXPECT_EQ(file.label.data(), kLabel.data());
  EXPECT_EQ(file.logits.data(), kLogits.data());
  EXPECT_EQ(file.num_outputs, 2);

  ASSERT_OK_AND_ASSIGN(const SampleSet samples, MakeSampleSet({std::move(file)}, {}));
  EXPECT_EQ(samples.logits.data(), kLogits.data());
  EXPECT_THAT(samples.label, ElementsAre(0, 1, -1));
  EXPECT_THAT(samples.prediction, ElementsAre(0, 1, 0));
}

TEST(SampleArraysTest, StridesAreFollowed) {
  // A column-major [3, 2], every other row of a [6, 2], and one from its end.
  const std::vector<float> columns = {3, 0, 1, 1, 2, 1};
  ArrayView transposed = View("logits", "<f4", columns, {3, 2});
  transposed.strides = {4, 12};
  const std::vector<float> wide = {3, 1, 9, 9, 0, 2, 9, 9, 1, 1, 9, 9};
  ArrayView every_other = View("logits", "<f4", wide, {3, 2});
  every_other.strides = {16, 4};
  const std::vector<float> backwards = {1, 1, 2, 0, 1, 3};
  ArrayView reversed = View("logits", "<f4", backwards, {3, 2});
  reversed.data = backwards.data() + 5;
  reversed.strides = {-8, -4};
  for (const ArrayView& logits : {transposed, every_other, reversed}) {
    ASSERT_OK_AND_ASSIGN(const ScoreFile file,
                         ScoreFileOfArrays("samples", {View("label", "<i8", kLabel, {3}), logits}));
    EXPECT_THAT(file.logits, ElementsAre(3, 1, 0, 2, 1, 1));
  }
  // The strides of an extent of 1 don't matter.
  ArrayView one_row = View("logits", "<f4", kLogits, {1, 2});
  one_row.strides = {999, 4};
  EXPECT_EQ(ScoreFileOfArrays("samples", {View("label", "<i8", kLabel, {1}), one_row})->logits.data(), kLogits.data());
}

TEST(SampleArraysTest, OtherTypesAreConverted) {
  const std::vector<int32_t> label = {0, 1, -1};
  const std::vector<double> logits = {3, 1, 0, 2, 1, 1};
  const std::vector<float> score = {0.5f, 0.25f, 2};
  const std::vector<uint8_t> prediction = {0, 1, 1};
  const std::vector<char32_t> names = {U'c', U'a', U't', U'o', U'x', 0};
  ArrayView group_names = View("group_names", "<U3", names, {2});
  group_names.item_bytes = 12;
  ASSERT_OK_AND_ASSIGN(
      const ScoreFile file,
      ScoreFileOfArrays("samples", {View("label", "<i4", label, {3}), View("logits", "<f8", logits, {3, 2}),
                                    View("prediction", "|u1", prediction, {3}), View("group", "<i4", label, {3}),
                                    View("unknown_score", "<f4", score, {3}), group_names}));
  EXPECT_THAT(file.label, ElementsAre(0, 1, -1));
  EXPECT_THAT(file.logits, ElementsAre(3, 1, 0, 2, 1, 1));
  EXPECT_THAT(file.prediction, ElementsAre(0, 1, 1));
  EXPECT_THAT(file.unknown_score, ElementsAre(0.5, 0.25, 2));
  EXPECT_THAT(file.set_names, ElementsAre("cat", "ox"));
}

TEST(SampleArraysTest, NegatingAScoreKeepsTheArray) {
  const std::vector<double> confidence = {1, 2, 3};
  const absl::StatusOr<ScoreFile> file =
      ScoreFileOfArrays("samples", {View("label", "<i8", kLabel, {3}), View("unknown_score", "<f8", confidence, {3})},
                        ScoreDirection::kHigherIsKnown);
  EXPECT_THAT(file->unknown_score, ElementsAre(-1, -2, -3));
  EXPECT_THAT(confidence, ElementsAre(1, 2, 3));
}

TEST(SampleArraysTest, UnalignedArraysAreCopied) {
  std::string bytes(1 + 3 * sizeof(double), '\0');
  const double score[] = {1, 2, 3};
  std::memcpy(&bytes[1], score, sizeof(score));
  ArrayView view = View("unknown_score", "<f8", std::vector<double>{}, {3});
  view.data = bytes.data() + 1;
  // One of two neighbouring addresses is not aligned.
  ASSERT_OK_AND_ASSIGN(const ScoreFile file, ScoreFileOfArrays("samples", {View("label", "<i8", kLabel, {3}), view}));
  EXPECT_THAT(file.unknown_score, ElementsAre(1, 2, 3));
}

TEST(SampleArraysTest, RefusesInvalidArrays) {
  const ArrayView label = View("label", "<i8", kLabel, {3});
  const ArrayView logits = View("logits", "<f4", kLogits, {3, 2});
  const auto error_with = [&](void (*change)(ArrayView*)) {
    ArrayView changed = logits;
    change(&changed);
    return ErrorOf({label, changed});
  };
  EXPECT_EQ(ErrorOf({label, logits}), "");
  EXPECT_EQ(error_with([](ArrayView* a) { a->data = nullptr; }), "samples: array 'logits' has no data");
  EXPECT_EQ(error_with([](ArrayView* a) { a->strides = {8}; }), "samples: array 'logits' has 1 strides for 2 extents");
  EXPECT_EQ(error_with([](ArrayView* a) { a->shape = {-3, 2}; }), "samples: array 'logits' has a negative extent");
  EXPECT_THAT(error_with([](ArrayView* a) {
                a->shape = {std::numeric_limits<int64_t>::max(), 2};
              }),
              HasSubstr("array 'logits' has the shape ["));
  EXPECT_EQ(error_with([](ArrayView* a) { a->item_bytes = -4; }), "samples: array 'logits' has elements of -4 bytes");
  EXPECT_THAT(error_with([](ArrayView* a) { a->item_bytes = 3; }),
              HasSubstr("samples: array 'logits' can't be read: "));
  EXPECT_THAT(error_with([](ArrayView* a) { a->type = ">f4"; }), HasSubstr("array is big-endian"));
  EXPECT_THAT(error_with([](ArrayView* a) { a->type = "|O4"; }), HasSubstr("array of Python objects"));
  EXPECT_THAT(error_with([](ArrayView* a) { a->name = "logit"; }),
              HasSubstr("samples: array 'logit' is not one of logits"));
  EXPECT_EQ(error_with([](ArrayView* a) { a->name = "label"; }), "samples: array 'label' is given twice");
  EXPECT_EQ(error_with([](ArrayView* a) {
              a->shape = {2, 3};
            }),
            "samples: array 'logits' has shape [2, 3], expected [3, any]");
  EXPECT_THAT(ErrorOf({logits}), HasSubstr("samples: has no array 'label'"));
  EXPECT_THAT(ErrorOf({label}), HasSubstr("samples: has no array 'unknown_score' or 'logits'"));
}

}  // namespace
}  // namespace openset
