#include "core/proto/traits.h"
#include "gmock/gmock.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

INSTANTIATE_TEST_SUITE_P(Densenet121, ModelConformance,
                         ::testing::Values(ModelCase{"densenet { growth: 4 } head { linear {} }", 64,
                                                     "densenet { growth: 2 } head { linear {} }", 40}));

TEST(Densenet, EqualsTorchvision) {
  ExpectGoldenOutputs(ModelSpecOf("densenet { growth: 8 } head { linear {} }"), InputSpecOf("size: 64"),
                      "models/testdata/densenet121.safetensors", /*f32_tolerance=*/0.02);
}

// sum(p.numel()) of torchvision's densenet121 without its classifier.
TEST(Densenet, HasTheParametersOfItsSize) {
  const auto backbone = *Make(ModelSpecOf("densenet {} head { linear {} }").densenet(), InputSpecOf("size: 224"));
  int64_t count = 0;
  for (const auto& parameter : backbone->named_parameters()) count += parameter.value().numel();
  EXPECT_EQ(count, 6953856);
  EXPECT_EQ(backbone->feature_dim(), 1024);
}

TEST(Densenet, AcceptsImagesFromItsLimit) {
  const ModelSpec spec = ModelSpecOf("densenet { growth: 1 } head { linear {} }");
  const auto backbone = *Make(spec.densenet(), InputSpecOf(""));
  backbone->eval();
  const int64_t least = TraitsOf(spec).smallest_image();
  EXPECT_EQ(backbone->Forward(at::zeros({1, 3, least, least}), 0).sizes(),
            at::IntArrayRef({1, backbone->feature_dim()}));
  EXPECT_ANY_THROW(backbone->Forward(at::zeros({1, 3, least - 1, least - 1}), 0));
}

}  // namespace
}  // namespace openset
