#include "models/checkpoint.h"

#include <cmath>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/make_model.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

std::string Path() {
  return JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
}

std::shared_ptr<Model> SmallModel(uint64_t seed) {
  RandomStream random(seed, "checkpoint_test");
  return *MakeModel(ModelSpecOf("vgg32 { width: 2 feature_dim: 3 } head { linear {} }"), InputSpecOf(""), 2, &random);
}

TEST(CheckpointTest, TensorsOfEveryTypeComeBack) {
  const TensorMap tensors = {
      {"f64", at::tensor({0.1, -2.5}, at::kDouble)},
      {"f32", at::tensor({1.5, -0.25, NAN}, at::kFloat)},
      {"f16", at::tensor({0.5, -3.0}).to(at::kHalf)},
      {"bf16", at::tensor({0.5, -3.0}).to(at::kBFloat16)},
      {"i64", at::tensor({int64_t{1} << 40, int64_t{-1}}, at::kLong)},
      {"i32", at::tensor({7, -7}, at::kInt)},
      {"i16", at::tensor({7, -7}, at::kShort)},
      {"i8", at::tensor({7, -7}, at::kChar)},
      {"u8", at::tensor({7, 255}, at::kByte)},
      {"bool", at::tensor({1, 0, 1}).to(at::kBool)},
      {"scalar", at::scalar_tensor(3, at::kFloat)},
      {"empty", at::zeros({0, 4})},
      {"transposed", at::arange(6, at::kFloat).view({2, 3}).t()},
      {"channels last", at::arange(24, at::kFloat).view({1, 2, 3, 4}).contiguous(at::MemoryFormat::ChannelsLast)},
  };
  ASSERT_THAT(SaveTensors(tensors, {{"epoch", "3"}}, Path()), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto loaded, LoadTensors(Path()));
  EXPECT_EQ(loaded.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    ASSERT_EQ(loaded.count(name), 1) << name;
    const at::Tensor& other = loaded.at(name);
    EXPECT_TRUE(other.is_contiguous()) << name;
    EXPECT_EQ(other.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_EQ(other.sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(at::equal(other.nan_to_num(77), tensor.nan_to_num(77))) << name;
  }
  const std::string bytes = *ReadFile(Path());
  EXPECT_THAT(DecodeSafetensors(bytes)->metadata, UnorderedElementsAre(Pair("epoch", "3")));
}

TEST(CheckpointTest, BytesOtherThanOneAreTrueToo) {
  Safetensors content;
  content.arrays["b"] = {ArrayType::kBool, {3}, absl::string_view("\0\2\1", 3)};
  ASSERT_THAT(WriteFileAtomically(Path(), *EncodeSafetensors(content)), IsOk());
  EXPECT_THAT(LoadTensors(Path())->at("b"), TensorEq(at::tensor({0, 1, 1}).to(at::kBool)));
}

TEST(CheckpointTest, StateIsACopyInRowMajorOrder) {
  const auto model = SmallModel(1);
  const TensorMap state = StateOf(*model);
  EXPECT_EQ(state.size(), 9 * (1 + 2 + 3) + 2);  // convolution; weight, bias; mean, variance, batches; the head's two
  EXPECT_TRUE(state.at("backbone.conv2.weight").is_contiguous());
  EXPECT_FALSE(state.at("backbone.conv2.weight").requires_grad());
  EXPECT_EQ(state.at("backbone.bn1.num_batches_tracked").scalar_type(), at::kLong);
  const at::NoGradGuard no_grad;
  const at::Tensor before = state.at("head.bias").clone();
  model->named_parameters()["head.bias"].add_(1);
  EXPECT_THAT(state.at("head.bias"), TensorEq(before));
}

TEST(CheckpointTest, SetStateKeepsTheLayoutOfTheModel) {
  const auto model = SmallModel(1);
  TensorMap state = StateOf(*SmallModel(2));
  ASSERT_THAT(SetState(state, model.get()), IsOk());
  const at::Tensor weight = model->named_parameters()["backbone.conv2.weight"];
  EXPECT_TRUE(weight.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_THAT(weight, TensorEq(state["backbone.conv2.weight"]));
}

TEST(CheckpointTest, AStateThatDoesNotFitChangesNothing) {
  const auto model = SmallModel(1);
  const TensorMap before = StateOf(*model);
  const TensorMap other = StateOf(*SmallModel(2));
  const auto refused = [&](const TensorMap& state, const std::string& message) {
    EXPECT_THAT(SetState(state, model.get()), IsInvalidArgument(message));
    for (const auto& [name, tensor] : StateOf(*model)) EXPECT_THAT(tensor, TensorEq(before.at(name))) << name;
  };
  TensorMap state = other;
  state.erase("head.bias");
  refused(state, "'head.bias' is missing");
  state = other;
  state["head.scale"] = at::zeros({1});
  refused(state, "'head.scale' is not of this model");
  state = other;
  state["head.bias"] = at::zeros({3});
  refused(state, "'head.bias' is Float [3], not Float [2]");
  state["head.bias"] = at::zeros({2}, at::kDouble);
  refused(state, "'head.bias' is Double [2], not Float [2]");
}

TEST(CheckpointTest, ErrorsNameFileAndTensor) {
  EXPECT_THAT(LoadTensors("nowhere.safetensors"), IsNotFound("nowhere.safetensors"));
  EXPECT_THAT(SaveTensors({{"c", at::zeros({1}, at::kComplexFloat)}}, {}, Path()),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(Path()), HasSubstr("'c'"))));
  EXPECT_FALSE(FileExists(Path()));
  EXPECT_THAT(SaveTensors({}, {}, "no/such/folder/file"), StatusIs(absl::StatusCode::kUnavailable));

  ASSERT_THAT(SaveTensors({{"w", at::zeros({5})}}, {}, Path()), IsOk());
  std::string bytes = *ReadFile(Path());
  bytes.pop_back();
  ASSERT_THAT(WriteFileAtomically(Path(), bytes), IsOk());
  EXPECT_THAT(LoadTensors(Path()), StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(Path()), HasSubstr("'w'"))));
}

}  // namespace
}  // namespace openset
