#include "models/networks/dcgan.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

using Sizes = std::vector<int64_t>;

// [out, in, 4, 4] of each convolution, [in, out, 4, 4] of a transposed one.
std::vector<Sizes> ConvolutionShapes(const Module& module) {
  std::vector<Sizes> shapes;
  for (int i = 1;; ++i) {
    const TensorDict parameters = module.named_parameters();
    const at::Tensor* weight = parameters.find(absl::StrCat("conv", i, ".weight"));
    if (weight == nullptr) return shapes;
    shapes.push_back(weight->sizes().vec());
  }
}

// ARPL's models/gan.py: _netG32, _netD32.
TEST(DcganTest, HasTheReleasedShapesAt32) {
  EXPECT_THAT(ConvolutionShapes(Generator({32, 3, 100, 64})),
              ElementsAre(Sizes{100, 512, 4, 4}, Sizes{512, 256, 4, 4}, Sizes{256, 128, 4, 4}, Sizes{128, 3, 4, 4}));
  const Discriminator discriminator({32, 3, 100, 64});
  EXPECT_THAT(ConvolutionShapes(discriminator),
              ElementsAre(Sizes{128, 3, 4, 4}, Sizes{256, 128, 4, 4}, Sizes{512, 256, 4, 4}, Sizes{1024, 512, 4, 4}));
  EXPECT_EQ(discriminator.named_parameters()["linear.weight"].sizes(), at::IntArrayRef({1, 1024}));
  EXPECT_EQ(discriminator.named_parameters().size(), 4 + 2 * 2 + 2);
}

// _netD: the same four layers.
TEST(DcganTest, HasTheReleasedShapesAt64) {
  EXPECT_THAT(ConvolutionShapes(Discriminator({64, 3, 100, 64})),
              ElementsAre(Sizes{128, 3, 4, 4}, Sizes{256, 128, 4, 4}, Sizes{512, 256, 4, 4}, Sizes{1024, 512, 4, 4}));
}

// 32 -> 16 -> 8 -> 4 -> 1 and 64 -> 32 -> 16 -> 8 -> 5, as released.
TEST(DcganTest, TheDiscriminatorsLastMap) {
  for (const auto& [size, places] : {std::pair{8, 1}, {16, 1}, {32, 1}, {64, 5}, {128, 13}}) {
    Discriminator discriminator({size, 1, 5, 1});
    EXPECT_EQ(discriminator.LastMap(at::zeros({2, 1, size, size})).sizes(), at::IntArrayRef({2, 16, places, places}));
  }
}

TEST(DcganTest, MakesAndJudgesImagesOfEachSize) {
  for (const int64_t size : {8, 16, 32, 64}) {
    Generator generator({size, 1, 5, 2});
    Discriminator discriminator({size, 1, 5, 2});
    RandomStream random(1, "dcgan_test");
    generator.Initialise(&random);
    discriminator.Initialise(&random);
    const at::Tensor image = generator.Forward(at::linspace(-1, 1, 15).reshape({3, 5}));
    EXPECT_EQ(image.sizes(), at::IntArrayRef({3, 1, size, size}));
    EXPECT_GT(image.min().item<double>(), 0);
    EXPECT_LT(image.max().item<double>(), 1);
    const at::Tensor real = discriminator.Forward(image);
    EXPECT_EQ(real.sizes(), at::IntArrayRef({3}));
    EXPECT_GT(real.min().item<double>(), 0);
    EXPECT_LT(real.max().item<double>(), 1);
    // Gradients reach the first layer of both.
    real.sum().backward();
    EXPECT_GT(generator.named_parameters()["conv1.weight"].grad().abs().sum().item<double>(), 0) << size;
    EXPECT_GT(discriminator.named_parameters()["conv1.weight"].grad().abs().sum().item<double>(), 0) << size;
  }
  for (const int64_t size : {0, 4, 12, 28, 33}) EXPECT_FALSE(IsDcganSize(size)) << size;
}

// The mean square of n normal numbers, within 4.9 standard errors: of all seeds, 1e-6 would fail.
TEST(DcganTest, DrawsTheStatedInitialValues) {
  Generator generator({32, 3, 20, 8});
  RandomStream random(1, "dcgan_test");
  generator.Initialise(&random);
  const at::Tensor weight = generator.named_parameters()["conv2.weight"].to(at::kDouble) / 0.02;
  EXPECT_NEAR(weight.square().mean().item<double>(), 1, 4.9 * std::sqrt(2. / weight.numel()));
  // The same stream, the same values.
  Generator again({32, 3, 20, 8});
  RandomStream same(1, "dcgan_test");
  again.Initialise(&same);
  EXPECT_TRUE(at::equal(again.named_parameters()["conv4.weight"], generator.named_parameters()["conv4.weight"]));
}

}  // namespace
}  // namespace openset
