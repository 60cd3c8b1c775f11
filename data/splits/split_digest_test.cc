#include "data/splits/split_digest.h"

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TaskData Parse(const std::string& text) { return Parsed<TaskData>(text); }

constexpr char kTrain[] = "train { data_set: 'a' part: 'train' part_digest: 'x' class_id: [2, 0] ";
constexpr char kTest[] = "test_known { data_set: 'a' part: 'test' part_digest: 'y' class_id: [2, 0] ";
constexpr char kUnknown[] =
    "test_unknown { name: 'unknown' selection { data_set: 'a' part: 'test' part_digest: 'y' class_id: [1] ";

std::string Split(const std::string& train = "", const std::string& test = "", const std::string& unknown = "",
                  const std::string& more = "") {
  return SplitDigest(Parse(kTrain + train + "} " + kTest + test + "} " + kUnknown + unknown + "} }" + more));
}

TEST(SplitDigest, IgnoresLimitsValidationAndExternalImages) {
  const std::string digest = Split();
  EXPECT_EQ(digest.size(), 64);
  EXPECT_EQ(Split("limit_per_class: 5", "limit_per_class: 5", "limit_per_class: 5"), digest);
  EXPECT_EQ(Split("without_last_per_class: 2", "", "", "validation_known { data_set: 'a' part: 'train' class_id: 2 }"),
            digest);
  EXPECT_EQ(Split("", "", "", "external { data_set: 'b' part: 'train' class_id: 2 }"), digest);
  // A field that is set to its default.
  EXPECT_EQ(Split("limit_per_class: 0"), digest);
}

TEST(SplitDigest, DiffersForOtherSplits) {
  const std::string digest = Split();
  EXPECT_NE(Split("fold { name: 'f' folds: 2 others: true }"), digest);
  EXPECT_NE(Split("", "fold { name: 'f' folds: 2 }"), digest);
  EXPECT_NE(Split("", "", "class_id: 3"), digest);
  EXPECT_NE(Split("", "", "draw { name: 'd' samples: 2 }"), digest);
  EXPECT_NE(Split("", "", "", "test_shifted { name: 'b' selection { data_set: 'b' part: 'test' class_id: [0, 1] } }"),
            digest);
  // Other files with the same name.
  EXPECT_NE(SplitDigest(Parse("train { data_set: 'a' part: 'train' part_digest: 'z' class_id: [2, 0] } ")),
            SplitDigest(Parse("train { data_set: 'a' part: 'train' part_digest: 'x' class_id: [2, 0] } ")));
  // The order of the known classes is the order of the labels.
  EXPECT_NE(SplitDigest(Parse("train { data_set: 'a' part: 'train' class_id: [2, 0] } ")),
            SplitDigest(Parse("train { data_set: 'a' part: 'train' class_id: [0, 2] } ")));
}

TEST(DrawDigest, IsThatOfTheClassesInAnyOrder) {
  const auto draw = [](const std::string& known, const std::string& unknown, const std::string& more = "") {
    return DrawDigest(Parse("train { data_set: 'a' part: 'train' class_id: [" + known + "] " + more +
                            "} test_known { data_set: 'a' part: 'test' class_id: [" + known +
                            "] } test_unknown { name: 'u' selection { data_set: 'a' part: 'test' class_id: [" +
                            unknown + "] } }"));
  };
  EXPECT_EQ(draw("0, 2", "1, 3"), draw("2, 0", "3, 1", "limit_per_class: 5"));
  EXPECT_NE(draw("0, 2", "1, 3"), draw("0, 2", "1"));
  EXPECT_NE(draw("0, 2", "1, 3"), draw("0, 1", "2, 3"));
  EXPECT_NE(draw("0, 2", "1, 3"), draw("0, 2", "1, 3", "fold { name: 'f' folds: 2 others: true }"));
}

}  // namespace
}  // namespace openset
