#include <cmath>
#include <cstdint>

#include "data/augment/augmentation_members.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

at::Tensor Grey(double probability, const at::Tensor& images) {
  RandomGreyscaleSpec spec;
  spec.set_probability(probability);
  RandomStream random(1, "grey");
  return Make(spec, /*input_size=*/0)->Apply(images, &random);
}

// By Pillow 13: Image.new("RGB", (1, 1), colour).convert("L").
TEST(RandomGreyscale, IsPillowsLuma) {
  const at::Tensor colours =
      at::tensor({255, 0, 0, 0, 255, 0, 0, 0, 255, 12, 200, 77, 255, 255, 255, 1, 2, 3}).to(at::kByte);
  const at::Tensor images = colours.view({6, 3, 1, 1});
  const at::Tensor expected =
      at::tensor({76, 150, 29, 130, 255, 2}).to(at::kByte).view({6, 1, 1, 1}).expand({6, 3, 1, 1});
  EXPECT_TRUE(at::equal(Grey(1, images), expected));
  EXPECT_TRUE(at::equal(Grey(0, images), images));
}

TEST(RandomGreyscale, LeavesGreyImages) {
  const at::Tensor images = at::arange(8).to(at::kByte).view({2, 1, 2, 2});
  EXPECT_TRUE(at::equal(Grey(1, images), images));
}

TEST(RandomGreyscale, HasItsProbability) {
  // n = 100,000 with p = 0.2: mean 20,000, deviation sqrt(n * 0.2 * 0.8) = 126.5; 6 deviations have a chance of 2e-9.
  const at::Tensor images = at::tensor({255, 0, 0}).to(at::kByte).view({1, 3, 1, 1}).expand({100000, 3, 1, 1});
  const auto grey = Grey(0.2, images.contiguous()).select(1, 0).eq(76).sum().item<int64_t>();
  EXPECT_LE(std::abs(grey - 20000), 6 * 126.5);
}

}  // namespace
}  // namespace openset
