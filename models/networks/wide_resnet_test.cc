#include "gmock/gmock.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

INSTANTIATE_TEST_SUITE_P(Wrn16, ModelConformance,
                         ::testing::Values(ModelCase{
                             "wide_resnet { blocks: 2 widening: 2 block_dropout: 0.3 } head { linear {} }", 32,
                             "wide_resnet { blocks: 1 widening: 1 } head { linear {} }", 16}));

TEST(WideResnet, EqualsPytorchOod) {
  ExpectGoldenOutputs(ModelSpecOf("wide_resnet { blocks: 2 widening: 2 } head { linear {} }"), InputSpecOf(""),
                      "models/testdata/wide_resnet.safetensors");
}

// sum(p.numel()) of pytorch-ood's WideResNet without its last layer.
TEST(WideResnet, HasTheParametersOfItsSize) {
  for (const auto& [text, expected] : {std::pair{"blocks: 6 widening: 2", 2242256}, {"", 36472784}}) {
    const ModelSpec spec = ModelSpecOf(std::string("head { linear {} } wide_resnet { ") + text + " }");
    const auto backbone = *Make(spec.wide_resnet(), InputSpecOf(""));
    int64_t count = 0;
    for (const auto& parameter : backbone->named_parameters()) count += parameter.value().numel();
    EXPECT_EQ(count, expected) << text;
  }
}

}  // namespace
}  // namespace openset
