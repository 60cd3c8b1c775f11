#include "models/networks/residual.h"

#include "core/tensor/torch_generator.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/networks/dropout.h"

namespace openset {
namespace {

std::vector<std::string> NamesOf(const Module& module) {
  std::vector<std::string> names;
  for (const auto& parameter : module.named_parameters()) names.push_back(parameter.key());
  return names;
}

// All weights 0: the block is relu(0 + shortcut(x)).
TEST(ResidualTest, WithoutWeightsABlockIsItsShortcut) {
  const at::NoGradGuard no_grad;
  for (const auto& make : {&MakeBasicBlock, &MakeBottleneck}) {
    const auto block = make(8, 8, 1, 0.5);
    for (at::Tensor& parameter : block->parameters()) parameter.zero_();
    for (const auto& [path, module] : block->named_modules()) {
      if (auto* dropout = dynamic_cast<Dropout*>(module)) dropout->SetGenerator(MakeGenerator(at::kCPU, 1));
    }
    const at::Tensor x = at::linspace(-1, 1, 2 * 8 * 3 * 3).view({2, 8, 3, 3});
    EXPECT_THAT(block->Forward(x), TensorEq(x.relu()));
  }
}

TEST(ResidualTest, AShortcutThatChangesTheShapeIsAConvolution) {
  EXPECT_THAT(NamesOf(*MakeBasicBlock(4, 4, 1, 0)),
              ElementsAre("conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight", "bn2.bias"));
  EXPECT_THAT(
      NamesOf(*MakeBottleneck(4, 8, 1, 0)),
      ElementsAre("conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight", "bn2.bias", "conv3.weight",
                  "bn3.weight", "bn3.bias", "downsample.0.weight", "downsample.1.weight", "downsample.1.bias"));
  const at::Tensor x = at::ones({1, 4, 5, 5});
  EXPECT_EQ(MakeBasicBlock(4, 4, 2, 0)->Forward(x).sizes(), at::IntArrayRef({1, 4, 3, 3}));
  EXPECT_EQ(MakeBottleneck(4, 8, 2, 0)->Forward(x).sizes(), at::IntArrayRef({1, 8, 3, 3}));
}

TEST(ResidualTest, TheStrideIsThatOfA3x3Convolution) {
  const auto block = MakeBottleneck(4, 8, 2, 0);
  for (const auto& [path, module] : block->named_modules()) {
    const auto* convolution = dynamic_cast<Convolution*>(module);
    if (convolution == nullptr) continue;
    const bool strided = path == "conv2" || path == "downsample.0";
    EXPECT_EQ(convolution->shape().stride, strided ? 2 : 1) << path;
    EXPECT_EQ(convolution->weight.size(2), path == "conv2" ? 3 : 1) << path;
    if (path == "conv2") {
      EXPECT_EQ(convolution->weight.size(1), 2);  // 8 / 4
    }
  }
}

}  // namespace
}  // namespace openset
