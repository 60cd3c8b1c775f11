#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/checkpoint.h"
#include "models/make_model.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

using ::testing::UnorderedElementsAreArray;

INSTANTIATE_TEST_SUITE_P(Resnet50, ModelConformance,
                         ::testing::Values(ModelCase{
                             "resnet_imagenet { width: 8 block_dropout: 0.2 } head { linear {} }", 64,
                             "resnet_imagenet { width: 4 } head { linear {} }", 40}));
INSTANTIATE_TEST_SUITE_P(Resnet18, ModelConformance,
                         ::testing::Values(ModelCase{
                             "resnet_imagenet { variant: RESNET18 width: 8 block_dropout: 0.2 } head { linear {} }", 64,
                             "resnet_imagenet { variant: RESNET18 width: 4 } head { linear {} }", 40}));

std::shared_ptr<Model> ModelOf(const std::string& text, int outputs) {
  RandomStream random(1, "resnet_imagenet_test");
  return *MakeModel(ModelSpecOf("head { linear {} } resnet_imagenet { " + text + " }"), InputSpecOf("size: 224"),
                    outputs, &random);
}

TEST(ResnetImagenetTest, EqualsPyTorch) {
  ExpectGoldenOutputs(ModelSpecOf("resnet_imagenet {} head { linear {} }"), InputSpecOf("size: 64"),
                      "models/testdata/resnet50.safetensors", /*f32_tolerance=*/0.02);
}

TEST(ResnetImagenetTest, EqualsTorchvision) {
  ExpectGoldenOutputs(ModelSpecOf("resnet_imagenet { variant: RESNET18 } head { linear {} }"), InputSpecOf("size: 64"),
                      "models/testdata/resnet18.safetensors", /*f32_tolerance=*/0.02);
}

// torchvision_resnets.txt has the state dicts of torchvision 0.26.0 ("resnet50 layer1.0.conv1.weight 64x64x1x1"), as
// `for name, tensor in torchvision.models.resnet50().state_dict().items()` gives them.
TEST(ResnetImagenetTest, HasTorchvisionsNamesAndShapes) {
  ASSERT_OK_AND_ASSIGN(const auto table, ReadFile("models/testdata/torchvision_resnets.txt"));
  for (const auto& [variant, name] : {std::pair{"RESNET18", "resnet18"},
                                      {"RESNET34", "resnet34"},
                                      {"RESNET50", "resnet50"},
                                      {"RESNET101", "resnet101"},
                                      {"RESNET152", "resnet152"}}) {
    std::vector<std::string> expected, actual;
    for (const absl::string_view line : absl::StrSplit(table, '\n')) {
      const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
      if (words[0] != name) continue;
      expected.push_back(absl::StrCat(absl::StartsWith(words[1], "fc.") ? "" : "backbone.",
                                      absl::StrReplaceAll(words[1], {{"fc.", "head."}}), " ", words[2]));
    }
    for (const auto& [key, tensor] : StateOf(*ModelOf(absl::StrCat("variant: ", variant), 1000))) {
      actual.push_back(absl::StrCat(key, " ", tensor.dim() == 0 ? "scalar" : absl::StrJoin(tensor.sizes(), "x")));
    }
    EXPECT_THAT(actual, UnorderedElementsAreArray(expected)) << name;
  }
}

TEST(ResnetImagenetTest, DropoutActsInTrainingOnly) {
  const auto dropping = ModelOf("width: 4 block_dropout: 0.2 feature_dropout: 0.1", 3), plain = ModelOf("width: 4", 3);
  const at::NoGradGuard no_grad;
  const at::Tensor image = NoiseImages(2, InputSpecOf("size: 64"), 1);
  for (const auto& model : {dropping, plain}) model->eval();
  EXPECT_THAT(dropping->Forward(image).logits, TensorEq(plain->Forward(image).logits));
  for (const auto& model : {dropping, plain}) model->train();
  dropping->SetGenerator(MakeGenerator(at::kCPU, 1));
  EXPECT_THAT(dropping->Forward(image).logits, Not(TensorEq(plain->Forward(image).logits)));
}

}  // namespace
}  // namespace openset
