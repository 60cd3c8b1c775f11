#include "data/readers/feature_file.h"

#include <algorithm>

#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

NpyArray Whole(const std::vector<int64_t>& values) { return MakeNpy(values, {static_cast<int64_t>(values.size())}); }
NpyArray Texts(const std::vector<std::string>& values) { return MakeNpy(values); }

absl::StatusOr<FeatureArrays> Read(const NpzArrays& arrays) {
  const std::string path = JoinPath(::testing::TempDir(), "features.npz");
  EXPECT_THAT(WriteNpz(path, arrays), IsOk());
  return ReadFeatureFile(path);
}

TEST(ReadFeatureFile, NumericLabelsGroupsAndParts) {
  ASSERT_OK_AND_ASSIGN(const auto arrays,
                       Read({{"label", Whole({0, 2, -1, 1, -1})},
                             {"features", MakeNpy(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {5, 2})},
                             {"group", Whole({-1, -1, 1, -1, 0})},
                             {"group_names", Texts({"svhn", "places"})},
                             {"part", Texts({"train", "test", "test", "train", "test"})}}));
  EXPECT_EQ(arrays.dim, 2);
  EXPECT_THAT(arrays.features, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  // The known classes, then a class for each group, in the order of their names.
  EXPECT_THAT(arrays.class_names, ElementsAre("0", "1", "2", "places", "svhn"));
  EXPECT_EQ(arrays.known_classes, 3);
  EXPECT_THAT(arrays.class_id, ElementsAre(0, 2, 3, 1, 4));
  EXPECT_THAT(RowsOfPart(arrays, "train", nullptr), ElementsAre(0, 3));
  EXPECT_THAT(RowsOfPart(arrays, "test", nullptr), ElementsAre(1, 2, 4));
}

TEST(ReadFeatureFile, NamesOfClassesAndUnknownSamplesWithoutGroups) {
  ASSERT_OK_AND_ASSIGN(const auto arrays,
                       Read({{"label", Texts({"fox", "", "cat", "fox"})}, {"cluster", Texts({"b", "a", "b", "c"})}}));
  EXPECT_EQ(arrays.dim, 0);
  EXPECT_THAT(arrays.class_names, ElementsAre("cat", "fox", "unknown"));
  EXPECT_THAT(arrays.class_id, ElementsAre(1, 2, 0, 1));
  EXPECT_THAT(arrays.part_names, ElementsAre("all", "unknown"));
  EXPECT_THAT(RowsOfPart(arrays, "unknown", nullptr), ElementsAre(1));
  EXPECT_THAT(arrays.cluster, ElementsAre(1, 0, 1, 2));
}

// Texts are numbered as the logits are, where these and class_names are there.
TEST(ReadFeatureFile, NamesOfClassesInTheOrderOfLogits) {
  NpzArrays named = {{"label", Texts({"fox", "Unknown", "cat", ""})},
                     {"logits", MakeNpy(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, {4, 2})},
                     {"class_names", Texts({"fox", "cat"})}};
  ASSERT_OK_AND_ASSIGN(const auto arrays, Read(named));
  EXPECT_THAT(arrays.class_names, ElementsAre("fox", "cat", "unknown"));
  EXPECT_THAT(arrays.class_id, ElementsAre(0, 2, 1, 2));
  named["label"] = Texts({"fox", "wolf", "cat", ""});
  EXPECT_THAT(std::string(Read(named).status().message()),
              HasSubstr("array 'label': row 1 is 'wolf', which is none of class_names"));
}

// class_names, num_classes and the columns of logits may say more classes than occur.
TEST(ReadFeatureFile, CountsClasses) {
  EXPECT_THAT(Read({{"label", Whole({0, 1})}})->class_names, ElementsAre("0", "1"));
  EXPECT_THAT(Read({{"label", Whole({0, 1})}, {"class_names", Texts({"a", "b", "c"})}})->class_names,
              ElementsAre("a", "b", "c"));
  EXPECT_EQ(Read({{"label", Whole({0, 1})}, {"num_classes", Whole({4})}})->known_classes, 4);
  EXPECT_EQ(Read({{"label", Whole({0})}, {"logits", MakeNpy(std::vector<float>{1, 2, 3}, {1, 3})}})->known_classes, 3);
}

TEST(ReadFeatureFile, ErrorsNameTheArrayAndTheRow) {
  const auto error = [](const NpzArrays& arrays) { return std::string(Read(arrays).status().message()); };
  EXPECT_THAT(error({{"features", MakeNpy(std::vector<float>{1}, {1, 1})}}),
              AllOf(HasSubstr("features.npz: array 'label' is missing"), HasSubstr("the file has features")));
  EXPECT_THAT(error({{"label", Whole({})}}), HasSubstr("array 'label' is empty"));
  EXPECT_THAT(error({{"label", Whole({-1, -1})}}), HasSubstr("array 'label' has no known sample"));
  EXPECT_THAT(error({{"label", Whole({0, -2})}}), HasSubstr("array 'label': row 1 is -2"));
  EXPECT_THAT(error({{"label", Whole({0, 3})}, {"num_classes", Whole({3})}}),
              HasSubstr("array 'label' has class 3, and there are 3 classes (num_classes)"));
  EXPECT_THAT(error({{"label", Whole({0})}, {"part", Texts({"train", "test"})}}),
              HasSubstr("array 'part' is [2], not a value for each of the 1 samples"));
  EXPECT_THAT(error({{"label", Whole({0})}, {"part", Texts({""})}}), HasSubstr("array 'part': row 0 is empty"));
  EXPECT_THAT(error({{"label", Whole({0, -1})}, {"group", Whole({-1, 2})}, {"group_names", Texts({"a"})}}),
              HasSubstr("array 'group': row 1 is 2, and there are 1 group_names"));
  EXPECT_THAT(error({{"label", Whole({0, -1})}, {"group", Whole({-1, 0})}}), HasSubstr("add an array 'group_names'"));
  EXPECT_THAT(error({{"label", Texts({"a", ""})}, {"group", Texts({"", "a"})}}),
              HasSubstr("array 'group' has the group 'a', which is also a class's name"));
  EXPECT_THAT(error({{"label", Whole({0})}, {"class_names", Texts({""})}}), HasSubstr("has no name for class 0"));
  EXPECT_THAT(error({{"label", Whole({0, 0})}, {"features", MakeNpy(std::vector<float>{1, 2, 3}, {3, 1})}}),
              HasSubstr("array 'features' is [3, 1], not a row of numbers for each of 2 samples"));
  const std::vector<float> nan = {1, 2, 3, std::nanf("")};
  EXPECT_THAT(error({{"label", Whole({0, 0})}, {"features", MakeNpy(nan, {2, 2})}}),
              HasSubstr("array 'features': row 1 has the value nan"));
}

TEST(RowsOfPart, SharesEachClass) {
  std::vector<int64_t> label;
  for (int i = 0; i < 30; ++i) label.push_back(i % 2);
  const FeatureArrays arrays = Read({{"label", Whole(label)}}).value();
  const ImageFolderOptions::Share train{0, 0.2, false}, test{0, 0.2, true};
  const std::vector<int64_t> of_train = RowsOfPart(arrays, "train", &train),
                             of_test = RowsOfPart(arrays, "test", &test);
  EXPECT_EQ(of_train.size(), 24);
  EXPECT_EQ(of_test.size(), 6);
  for (const int64_t row : of_test) EXPECT_THAT(of_train, ::testing::Not(::testing::Contains(row)));
  EXPECT_EQ(std::count_if(of_test.begin(), of_test.end(), [](int64_t row) { return row % 2 == 0; }), 3);
}

// Clusters of 1 to 5 samples, one of which has samples of both classes.
TEST(RowsOfPart, KeepsClustersWhole) {
  std::vector<int64_t> label, cluster;
  for (int c = 0; c < 40; ++c) {
    for (int i = 0; i <= c % 5; ++i) {
      label.push_back(c == 0 ? 1 : c % 2);
      cluster.push_back(c == 1 ? 0 : c);
    }
  }
  const FeatureArrays arrays = Read({{"label", Whole(label)}, {"cluster", Whole(cluster)}}).value();
  const ImageFolderOptions::Share train{3, 0.2, false}, test{3, 0.2, true};
  std::vector<int64_t> in_train, in_test;
  for (const int64_t row : RowsOfPart(arrays, "train", &train)) in_train.push_back(cluster[row]);
  for (const int64_t row : RowsOfPart(arrays, "test", &test)) in_test.push_back(cluster[row]);
  for (const int64_t one : in_test) EXPECT_THAT(in_train, ::testing::Not(::testing::Contains(one)));
  EXPECT_EQ(in_train.size() + in_test.size(), label.size());
  // A fifth of each class, and at most the rest of one cluster more.
  EXPECT_GE(in_test.size(), label.size() / 5);
  EXPECT_LE(in_test.size(), label.size() / 5 + 9);
}

TEST(ReadFeatureFile, OtherFilesAreRefused) {
  EXPECT_THAT(ReadFeatureFile("absent.npz"), StatusIs(absl::StatusCode::kNotFound));
  const std::string path = JoinPath(::testing::TempDir(), "text.npz");
  ASSERT_THAT(WriteFileAtomically(path, "label,features\n"), IsOk());
  EXPECT_THAT(ReadFeatureFile(path), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Read({{"label", Whole({0})}})->cluster, IsEmpty());
}

}  // namespace
}  // namespace openset
