#include "models/dcgan.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

int64_t Weights(const torch::nn::Module& module, const std::string& name) {
  return module.named_parameters()[name].numel();
}

// For 32x32: 512, 256, 128 channels, then the image's; 128, 256, 512, 1024 channels (ARPL's discriminator).
TEST(DcganTest, HasTheStatedChannels) {
  const Generator generator({32, 3, 100, 64});
  EXPECT_EQ(Weights(generator, "conv1.weight"), 100 * 512 * 16);
  EXPECT_EQ(Weights(generator, "conv2.weight"), 512 * 256 * 16);
  EXPECT_EQ(Weights(generator, "conv3.weight"), 256 * 128 * 16);
  EXPECT_EQ(Weights(generator, "conv4.weight"), 128 * 3 * 16);
  EXPECT_EQ(generator.named_parameters().size(), 4 + 2 * 3);
  const Discriminator discriminator({32, 3, 100, 64});
  EXPECT_EQ(Weights(discriminator, "conv1.weight"), 3 * 128 * 16);
  EXPECT_EQ(Weights(discriminator, "conv4.weight"), 512 * 1024 * 16);
  EXPECT_EQ(Weights(discriminator, "linear.weight"), 1024);
  EXPECT_EQ(discriminator.named_parameters().size(), 4 + 2 * 2 + 2);
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
