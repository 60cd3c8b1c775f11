#include "experiments/store/outputs.h"

#include <functional>

#include "core/files/digest.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

std::string Path() {
  return testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".npz";
}

Outputs Example() {
  Outputs outputs;
  outputs.logits = {1, 2, 3, 4, 5, 6};
  outputs.num_outputs = 2;
  outputs.features = {0.5f, 1.5f, 2.5f};
  outputs.feature_dim = 1;
  outputs.label = {0, 1, -1};
  outputs.class_id = {7, 3, 5};
  outputs.group = {-1, -1, 0};
  outputs.group_names = {"unknown"};
  outputs.head_weight = {1, -1};
  outputs.head_bias = {0.25f, 0};
  outputs.perturbed_features = {0.25f, 1.25f, 2.25f};
  outputs.stage_values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  outputs.stage_widths = {1, 2};
  return outputs;
}

TEST(OutputsWriter, WritesTheSameBytesBatchByBatch) {
  const std::string at_once = Path() + ".at_once";
  ASSERT_TRUE(WriteOutputs(Example(), at_once).ok());
  OutputsWriter writer(Path());
  Outputs rest = Example();
  rest.logits.clear();
  rest.features.clear();
  ASSERT_TRUE(writer.AddRows({1, 2}, 2, {0.5f}, 1).ok());
  ASSERT_TRUE(writer.AddRows({3, 4, 5, 6}, 2, {1.5f, 2.5f}, 1).ok());
  ASSERT_TRUE(writer.Finish(rest).ok());
  EXPECT_EQ(*Sha256HexOfFile(Path()), *Sha256HexOfFile(at_once));
}

TEST(Outputs, RoundTrip) {
  ASSERT_TRUE(WriteOutputs(Example(), Path()).ok());
  ASSERT_OK_AND_ASSIGN(const Outputs read, ReadOutputs(Path()));
  EXPECT_EQ(read.num_outputs, 2);
  EXPECT_EQ(read.feature_dim, 1);
  EXPECT_EQ(read.logits, Example().logits);
  EXPECT_EQ(read.features, Example().features);
  EXPECT_EQ(read.label, Example().label);
  EXPECT_EQ(read.class_id, Example().class_id);
  EXPECT_EQ(read.group, Example().group);
  EXPECT_THAT(read.group_names, ElementsAre("unknown"));
  EXPECT_EQ(read.head_weight, Example().head_weight);
  EXPECT_EQ(read.perturbed_features, Example().perturbed_features);
  EXPECT_EQ(read.head_bias, Example().head_bias);
  EXPECT_EQ(read.stage_values, Example().stage_values);
  EXPECT_EQ(read.stage_widths, Example().stage_widths);
}

// Equal numbers of two data sets are two clusters; samples of a data set without clusters are each their own.
TEST(ClusterNumbers, TellDataSetsApart) {
  ClusterNumbers numbers;
  numbers.Append("a", {7, 7, 9}, 3);
  numbers.Append("b", {7}, 1);
  numbers.Append("c", {}, 2);
  numbers.Append("a", {9, 8}, 2);
  Outputs outputs = Example();
  outputs.cluster = numbers.Take();
  EXPECT_THAT(outputs.cluster, ElementsAre(0, 0, 1, 2, 3, 4, 1, 5));
  numbers = ClusterNumbers();
  numbers.Append("c", {}, 2);
  EXPECT_THAT(numbers.Take(), testing::IsEmpty());
  outputs.cluster = {4, 4, 2};
  ASSERT_TRUE(WriteOutputs(outputs, Path()).ok());
  EXPECT_THAT(ReadOutputs(Path())->cluster, ElementsAre(4, 4, 2));
}

TEST(Outputs, FeaturesAndHeadAreOptional) {
  Outputs outputs = Example();
  outputs.features.clear();
  outputs.head_weight.clear();
  outputs.head_bias.clear();
  outputs.perturbed_features.clear();
  outputs.feature_dim = 0;
  ASSERT_TRUE(WriteOutputs(outputs, Path()).ok());
  ASSERT_OK_AND_ASSIGN(const Outputs read, ReadOutputs(Path()));
  EXPECT_TRUE(read.features.empty());
  EXPECT_EQ(read.feature_dim, 0);
}

TEST(Outputs, KeepTheUncertaintyOfSeveralPasses) {
  Outputs outputs = Example();
  outputs.member_uncertainty = {0.5f, 1, 0, 0, 2, 0.25f, 0.125f, 3, 0.5f};
  ASSERT_TRUE(WriteOutputs(outputs, Path()).ok());
  EXPECT_EQ(ReadOutputs(Path())->member_uncertainty, outputs.member_uncertainty);
  EXPECT_EQ(ReadNpz(Path())->at("member_uncertainty").shape, (std::vector<int64_t>{3, 3}));
}

TEST(Outputs, ErrorsNameFileAndArray) {
  EXPECT_EQ(ReadOutputs("/nowhere.npz").status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteNpz(Path(), {{"logits", MakeNpy(std::vector<float>{1, 2}, {1, 2})}}).ok());
  EXPECT_EQ(ReadOutputs(Path()).status(), absl::InvalidArgumentError(Path() + ": has no array 'label'"));
  ASSERT_TRUE(WriteNpz(Path(), {{"logits", MakeNpy(std::vector<float>{1, 2}, {1, 2})},
                                {"label", MakeNpy(std::vector<int64_t>{0, 1}, {2})}})
                  .ok());
  EXPECT_EQ(ReadOutputs(Path()).status(),
            absl::InvalidArgumentError(Path() + ": array 'label' has shape [2], expected [1] (-1: any)"));
  ASSERT_TRUE(WriteNpz(Path(), {{"logits", MakeNpy(std::vector<float>{1, 2}, {1, 2})},
                                {"label", MakeNpy(std::vector<float>{0.5f}, {1})}})
                  .ok());
  EXPECT_THAT(std::string(ReadOutputs(Path()).status().message()),
              HasSubstr("'label': holds 0.5 in row 0, not a whole number"));
  Outputs named = Example();
  named.group_names = {"\x1b[2J"};
  ASSERT_TRUE(WriteOutputs(named, Path()).ok());
  EXPECT_EQ(ReadOutputs(Path()).status(),
            absl::DataLossError(Path() + ": array 'group_names' holds ' [2J', which is not a valid name"));
}

// Other code uses these values as indices, and outputs may be from a stranger's bundle.
TEST(Outputs, RefusesIndicesOutOfRange) {
  const auto error = [](const std::function<void(Outputs*)>& change) {
    Outputs outputs = Example();
    change(&outputs);
    EXPECT_TRUE(WriteOutputs(outputs, Path()).ok());
    const absl::Status status = ReadOutputs(Path()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(status.message().substr(Path().size()));
  };
  EXPECT_EQ(error([](Outputs* o) { o->group[2] = 1; }),
            ": array 'group' has 1 in row 2, expected at least -1 and less than 1");
  EXPECT_EQ(error([](Outputs* o) { o->group[0] = -2; }),
            ": array 'group' has -2 in row 0, expected at least -1 and less than 1");
  EXPECT_EQ(error([](Outputs* o) { o->label[1] = int64_t{1} << 31; }),
            ": array 'label' has 2147483648 in row 1, expected at least -1 and less than 2147483648");
  EXPECT_EQ(error([](Outputs* o) { o->class_id[1] = -1; }),
            ": array 'class_id' has -1 in row 1, expected at least 0 and less than 2147483648");
  EXPECT_EQ(error([](Outputs* o) {
              o->prediction = {0, 0, -1};
            }),
            ": array 'prediction' has -1 in row 2, expected at least 0 and less than 2147483648");
  EXPECT_EQ(error([](Outputs* o) {
              o->stage_widths = {1, 1};
            }),
            ": array 'stage_widths' sums to 2, and 'stage_values' has 3 columns");
  EXPECT_EQ(error([](Outputs* o) {
              o->stage_widths = {4, -1};
            }),
            ": array 'stage_widths' has 4 in row 0, expected at least 0 and less than 4");
}

}  // namespace
}  // namespace openset
