#include "core/random.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

INSTANTIATE_TEST_SUITE_P(Resnet20, ModelConformance,
                         ::testing::Values(ModelCase{"resnet_cifar { block_dropout: 0.2 } head { linear {} }", 32,
                                                     "resnet_cifar { width: 4 } head { linear {} }", 16}));

std::shared_ptr<Backbone> ResnetOf(const std::string& text) {
  const auto backbone =
      *Make(ModelSpecOf("head { linear {} } resnet_cifar { " + text + " }").resnet_cifar(), InputSpecOf(""));
  RandomStream random(1, "resnet_cifar_test");
  backbone->Initialise(&random);
  return backbone;
}

int64_t ConvolutionWeights(const Backbone& backbone) {
  int64_t weights = 0;
  for (const auto& parameter : backbone.named_parameters()) {
    if (parameter.value().dim() == 4) weights += parameter.value().numel();
  }
  return weights;
}

TEST(ResnetCifarTest, EqualsPyTorch) {
  ExpectGoldenOutputs(ModelSpecOf("resnet_cifar {} head { linear {} }"), InputSpecOf(""),
                      "models/testdata/resnet20.safetensors");
}

TEST(ResnetCifarTest, EqualsOpenOodsResnet18) {
  ExpectGoldenOutputs(ModelSpecOf("resnet_cifar { variant: RESNET18 } head { linear {} }"), InputSpecOf(""),
                      "models/testdata/resnet18_32x32.safetensors");
}

// 3 x 3 x (3 x 16 + 6 x 16^2 + 16 x 32 + 5 x 32^2 + 32 x 64 + 5 x 64^2) + 16 x 32 + 32 x 64; and
// 3 x 3 x (3 x 64 + 4 x 64^2 + sum over c = 64, 128, 256 of (2 c^2 + 3 x 4 c^2)) + sum of 2 c^2.
TEST(ResnetCifarTest, HasTheWeightsOfItsVariant) {
  EXPECT_EQ(ConvolutionWeights(*ResnetOf("")), 270256);
  EXPECT_EQ(ResnetOf("")->feature_dim(), 64);
  const int64_t squares = 64 * 64 + 128 * 128 + 256 * 256;
  EXPECT_EQ(ConvolutionWeights(*ResnetOf("variant: RESNET18")),
            9 * (3 * 64 + 4 * 64 * 64 + 14 * squares) + 2 * squares);
  EXPECT_EQ(ResnetOf("variant: RESNET18")->feature_dim(), 512);
}

TEST(ResnetCifarTest, ParametersAreNamedAsInTorchvision) {
  const auto parameters = ResnetOf("variant: RESNET18")->named_parameters();
  for (const char* name : {"conv1.weight", "bn1.bias", "layer1.0.conv1.weight", "layer4.1.bn2.weight",
                           "layer2.0.downsample.0.weight", "layer2.0.downsample.1.bias"}) {
    EXPECT_NE(parameters.find(name), nullptr) << name;
  }
  EXPECT_EQ(parameters.find("layer1.0.downsample.0.weight"), nullptr);
}

TEST(ResnetCifarTest, DropoutActsInTrainingOnly) {
  const auto backbone = ResnetOf("block_dropout: 0.2 feature_dropout: 0.1");
  const auto plain = ResnetOf("");
  const at::NoGradGuard no_grad;
  const at::Tensor image = at::linspace(-1, 1, 2 * 3 * 32 * 32).view({2, 3, 32, 32});
  for (const auto& network : {backbone, plain}) network->eval();
  EXPECT_THAT(backbone->Forward(image, 0), TensorEq(plain->Forward(image, 0)));
  for (const auto& network : {backbone, plain}) network->train();
  backbone->SetGenerator(MakeGenerator(at::kCPU, 1));
  EXPECT_THAT(backbone->Forward(image, 0), Not(TensorEq(plain->Forward(image, 0))));
}

}  // namespace
}  // namespace openset
