#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "models/networks/network_members.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/model_conformance.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

INSTANTIATE_TEST_SUITE_P(Vgg32, ModelConformance,
                         ::testing::Values(ModelCase{"vgg32 {} head { linear {} }", 32,
                                                     "vgg32 { width: 4 feature_dim: 6 dropout: 0 } head { linear {} }",
                                                     16}));

std::shared_ptr<Backbone> Vgg32Of(const std::string& text, int channels = 3) {
  const InputSpec input = InputSpecOf(absl::StrCat("channels: ", channels));
  const auto backbone = *Make(ModelSpecOf("head { linear {} } vgg32 { " + text + " }").vgg32(), input);
  RandomStream random(1, "vgg32_test");
  backbone->Initialise(&random);
  return backbone;
}

TEST(Vgg32Test, EqualsPyTorch) {
  ExpectGoldenOutputs(ModelSpecOf("vgg32 { dropout: 0 } head { linear {} }"), InputSpecOf(""),
                      "models/testdata/vgg32.safetensors");
}

TEST(Vgg32Test, HasTheParametersOfTheTable) {
  const auto backbone = Vgg32Of("");
  // 3 -> 64, 64, 128, 128, 128, 128, 128, 128, 128.
  int64_t channels_in = 3;
  int64_t weights = 0;
  const auto parameters = backbone->named_parameters();
  ASSERT_EQ(parameters.size(), 9 * 3);
  for (int layer = 1; layer <= 9; ++layer) {
    const int64_t channels = layer <= 2 ? 64 : 128;
    const at::Tensor* weight = parameters.find(absl::StrCat("conv", layer, ".weight"));
    ASSERT_NE(weight, nullptr);
    EXPECT_EQ(weight->sizes(), at::IntArrayRef({channels, channels_in, 3, 3}));
    EXPECT_TRUE(weight->is_contiguous(at::MemoryFormat::ChannelsLast));
    for (const char* name : {".weight", ".bias"}) {
      const at::Tensor* norm = parameters.find(absl::StrCat("bn", layer, name));
      ASSERT_NE(norm, nullptr);
      EXPECT_EQ(norm->sizes(), at::IntArrayRef({channels}));
    }
    weights += weight->numel();
    channels_in = channels;
  }
  EXPECT_EQ(weights, 997056);
  EXPECT_EQ(Vgg32Of("feature_dim: 32")->named_parameters()["conv9.weight"].sizes(), at::IntArrayRef({32, 128, 3, 3}));
  EXPECT_EQ(Vgg32Of("width: 16")->named_parameters()["conv5.weight"].sizes(), at::IntArrayRef({32, 32, 3, 3}));
  EXPECT_EQ(Vgg32Of("", 1)->named_parameters()["conv1.weight"].sizes(), at::IntArrayRef({64, 1, 3, 3}));
}

// The table in vgg32.cc, computed layer by layer.
TEST(Vgg32Test, HasTheSizesOfTheTable) {
  for (const auto& [size, last_size] : {std::pair{32, 4}, std::pair{64, 8}, std::pair{28, 4}, std::pair{1, 1}}) {
    const auto backbone = Vgg32Of("");
    backbone->eval();
    const at::NoGradGuard no_grad;
    const auto parameters = backbone->named_parameters();
    const at::Tensor images = NoiseImages(2, InputSpecOf(absl::StrCat("size: ", size)), 1);
    at::Tensor x = images;
    int64_t expected_size = size;
    for (int layer = 1; layer <= 9; ++layer) {
      const int64_t stride = layer % 3 == 0 ? 2 : 1;
      x = at::conv2d(x, parameters[absl::StrCat("conv", layer, ".weight")], {}, stride, /*padding=*/1);
      // Fresh statistics: mean 0 and variance 1.
      x = at::batch_norm(x, parameters[absl::StrCat("bn", layer, ".weight")],
                         parameters[absl::StrCat("bn", layer, ".bias")], at::zeros({x.size(1)}), at::ones({x.size(1)}),
                         /*training=*/false, 0.1, 1e-5, false);
      x = at::where(x > 0, x, 0.2 * x);
      if (stride == 2) expected_size = (expected_size + 1) / 2;
      EXPECT_EQ(x.sizes(), at::IntArrayRef({2, layer <= 2 ? 64 : 128, expected_size, expected_size}));
    }
    EXPECT_EQ(expected_size, last_size);
    EXPECT_THAT(backbone->Forward(images, 0), TensorNear(x.mean({2, 3}), 1e-5)) << size;
  }
}

TEST(Vgg32Test, SeparatesTheStatisticsOfItsNormSets) {
  const auto backbone = Vgg32Of("width: 4 feature_dim: 6 dropout: 0 norm_sets: 2");
  const auto mean_of = [&](const char* name) { return backbone->named_buffers()[name].abs().sum().item<double>(); };
  const at::Tensor images = NoiseImages(4, InputSpecOf("size: 8"), 1);
  backbone->Forward(images, 1);
  EXPECT_EQ(mean_of("bn9.running_mean"), 0);
  EXPECT_GT(mean_of("bn9_set1.running_mean"), 0);
  backbone->Forward(images, 0);
  EXPECT_GT(mean_of("bn9.running_mean"), 0);
  // One set: all images share it.
  const auto plain = Vgg32Of("width: 4 feature_dim: 6 dropout: 0");
  EXPECT_EQ(plain->named_parameters().size(), 9 * 3);
  EXPECT_TRUE(at::equal(plain->Forward(images, 0), plain->Forward(images, 1)));
}

// Nine tests of the mean and nine of the variance, each at 4.9 standard errors: of all seeds, 2e-5 would fail.
TEST(Vgg32Test, DrawsTheStatedInitialValues) {
  const auto backbone = Vgg32Of("");
  const auto parameters = backbone->named_parameters();
  for (int layer = 1; layer <= 9; ++layer) {
    const at::Tensor weight = parameters[absl::StrCat("conv", layer, ".weight")].to(at::kDouble) / 0.05;
    const double n = weight.numel();
    EXPECT_NEAR(weight.mean().item<double>(), 0, 4.9 / std::sqrt(n)) << layer;
    EXPECT_NEAR(weight.pow(2).mean().item<double>(), 1, 4.9 * std::sqrt(2 / n)) << layer;
    EXPECT_EQ(parameters[absl::StrCat("bn", layer, ".bias")].abs().max().item<double>(), 0) << layer;
  }
  // All batch-norm weights together, 2 * 64 + 7 * 128 = 1024.
  std::vector<at::Tensor> norm_weights;
  for (int layer = 1; layer <= 9; ++layer) norm_weights.push_back(parameters[absl::StrCat("bn", layer, ".weight")]);
  const at::Tensor scaled = (at::cat(norm_weights).to(at::kDouble) - 1) / 0.02;
  ASSERT_EQ(scaled.numel(), 1024);
  EXPECT_NEAR(scaled.mean().item<double>(), 0, 4.9 / std::sqrt(1024));
  EXPECT_NEAR(scaled.pow(2).mean().item<double>(), 1, 4.9 * std::sqrt(2. / 1024));
}

// A dropped channel of an image gets no gradient. Of 64 * 3 channels, 96 are dropped on average with a standard
// deviation of 6.9; 4.9 of them: of all seeds, 1e-6 would fail.
TEST(Vgg32Test, DropsWholeChannelsOfTheInput) {
  const auto backbone = Vgg32Of("dropout: 0.5");
  const auto dropped_channels = [&] {
    at::Tensor images = NoiseImages(64, InputSpecOf("size: 8"), 1).set_requires_grad(true);
    backbone->SetGenerator(MakeGenerator(at::kCPU, 1));
    backbone->Forward(images, 0).square().sum().backward();
    return images.grad().abs().sum({2, 3}).eq(0).sum().item<double>();
  };
  EXPECT_NEAR(dropped_channels(), 96, 34);
  backbone->eval();
  EXPECT_EQ(dropped_channels(), 0);
}

}  // namespace
}  // namespace openset
