#include "gmock/gmock.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

INSTANTIATE_TEST_SUITE_P(Small, ModelConformance,
                         ::testing::Values(ModelCase{"swin_transformer { width: 24 } head { linear {} }", 64,
                                                     "swin_transformer { width: 12 } head { linear {} }", 36}));

// Sides of 16, 8, 4 and 2 tokens: padded, shifted and complete windows.
TEST(SwinTransformer, EqualsTorchvision) {
  ExpectGoldenOutputs(ModelSpecOf("swin_transformer { width: 24 } head { linear {} }"), InputSpecOf("size: 64"),
                      "models/testdata/swin_transformer.safetensors");
}

// sum(p.numel()) of torchvision's swin_t without its head.
TEST(SwinTransformer, HasTheParametersOfItsSize) {
  const auto backbone =
      *Make(ModelSpecOf("swin_transformer {} head { linear {} }").swin_transformer(), InputSpecOf("size: 224"));
  int64_t count = 0;
  for (const auto& parameter : backbone->named_parameters()) count += parameter.value().numel();
  EXPECT_EQ(count, 27519354);
}

}  // namespace
}  // namespace openset
