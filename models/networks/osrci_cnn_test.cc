#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

INSTANTIATE_TEST_SUITE_P(OsrciCnn, ModelConformance,
                         ::testing::Values(ModelCase{"osrci_cnn {} head { linear {} }", 32,
                                                     "osrci_cnn { dropout: 0 } head { linear {} }", 16}));

absl::StatusOr<std::shared_ptr<Backbone>> OsrciCnnOf(const std::string& text, const std::string& input) {
  auto backbone = Make(ModelSpecOf("head { linear {} } osrci_cnn { " + text + " }").osrci_cnn(), InputSpecOf(input));
  RandomStream random(1, "osrci_cnn_test");
  if (backbone.ok()) (*backbone)->Initialise(&random);
  return backbone;
}

TEST(OsrciCnnTest, EqualsPyTorch) {
  ExpectGoldenOutputs(ModelSpecOf("osrci_cnn { dropout: 0 } head { linear {} }"), InputSpecOf(""),
                      "models/testdata/osrci_cnn.safetensors");
}

TEST(OsrciCnnTest, HasTheStatedShapes) {
  const auto shape_of = [](const std::string& input, const std::string& name) {
    return (*OsrciCnnOf("", input))->named_parameters()[name].sizes().vec();
  };
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shape_of("", "conv1.weight"), Shape({10, 3, 5, 5}));
  EXPECT_EQ(shape_of("channels: 1", "conv1.weight"), Shape({10, 1, 5, 5}));
  EXPECT_EQ(shape_of("", "conv1.bias"), Shape({10}));
  EXPECT_EQ(shape_of("", "conv2.weight"), Shape({20, 10, 5, 5}));
  EXPECT_EQ(shape_of("", "conv2.bias"), Shape({20}));
  EXPECT_EQ(shape_of("", "fc.weight"), Shape({64, 500}));           // 32: 28, 14, 10, 5; 20 * 5 * 5
  EXPECT_EQ(shape_of("size: 28", "fc.weight"), Shape({64, 320}));   // 28: 24, 12, 8, 4; 20 * 4 * 4
  EXPECT_EQ(shape_of("size: 64", "fc.weight"), Shape({64, 3380}));  // 64: 60, 30, 26, 13; 20 * 13 * 13
  EXPECT_EQ(shape_of("", "fc.bias"), Shape({64}));
  EXPECT_EQ((*OsrciCnnOf("feature_dim: 7", ""))->feature_dim(), 7);
}

TEST(OsrciCnnTest, NeedsImagesOf16x16) {
  EXPECT_THAT(OsrciCnnOf("", "size: 15"), IsInvalidArgument("at least 16x16"));
  const auto smallest = OsrciCnnOf("", "size: 16");  // 16: 12, 6, 2, 1
  ASSERT_THAT(smallest, IsOk());
  (*smallest)->eval();
  EXPECT_EQ((*smallest)->Forward(NoiseImages(2, InputSpecOf("size: 16"), 1), 0).sizes(), at::IntArrayRef({2, 64}));
}

// Uniform on +-b, of second moment b^2/3 and fourth b^4/5, with b^2 = 1/75 (3 * 5 * 5 inputs), 1/250 and 1/500. Three
// tests of the mean and three of the second moment, each at 4.9 standard errors: of all seeds, 6e-6 would fail.
TEST(OsrciCnnTest, DrawsTheStatedInitialValues) {
  const auto parameters = (*OsrciCnnOf("", ""))->named_parameters();
  for (const auto& [name, inputs] : {std::pair{"conv1", 75}, std::pair{"conv2", 250}, std::pair{"fc", 500}}) {
    const double scale = std::sqrt(inputs);
    const at::Tensor weight = parameters[absl::StrCat(name, ".weight")].to(at::kDouble) * scale;
    const double n = weight.numel();
    EXPECT_LE(weight.abs().max().item<double>(), 1 + 1e-6) << name;
    EXPECT_NEAR(weight.mean().item<double>(), 0, 4.9 * std::sqrt(1 / (3 * n))) << name;
    EXPECT_NEAR(weight.pow(2).mean().item<double>(), 1. / 3, 4.9 * std::sqrt((1. / 5 - 1. / 9) / n)) << name;
    const at::Tensor bias = parameters[absl::StrCat(name, ".bias")].to(at::kDouble) * scale;
    EXPECT_LE(bias.abs().max().item<double>(), 1 + 1e-6) << name;
    EXPECT_GT(bias.abs().max().item<double>(), 0.5) << name;  // fails for 2^-10 of all seeds with 10 biases
  }
}

}  // namespace
}  // namespace openset
