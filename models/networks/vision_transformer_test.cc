#include "gmock/gmock.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

INSTANTIATE_TEST_SUITE_P(Small, ModelConformance,
                         ::testing::Values(ModelCase{
                             "vision_transformer { patch: 8 width: 24 depth: 2 heads: 3 } head { linear {} }", 32,
                             "vision_transformer { patch: 8 width: 6 depth: 1 heads: 2 } head { linear {} }", 16}));

TEST(VisionTransformer, EqualsTimm) {
  ExpectGoldenOutputs(ModelSpecOf("vision_transformer { patch: 8 width: 24 depth: 2 heads: 3 } head { linear {} }"),
                      InputSpecOf(""), "models/testdata/vision_transformer.safetensors");
}

// sum(p.numel()) of timm's vit_base_patch16_224 without its head.
TEST(VisionTransformer, HasTheParametersOfItsSize) {
  const auto backbone =
      *Make(ModelSpecOf("vision_transformer {} head { linear {} }").vision_transformer(), InputSpecOf("size: 224"));
  int64_t count = 0;
  for (const auto& parameter : backbone->named_parameters()) count += parameter.value().numel();
  EXPECT_EQ(count, 85798656);
}

}  // namespace
}  // namespace openset
