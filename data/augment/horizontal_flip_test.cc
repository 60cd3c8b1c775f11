#include <cmath>
#include <cstdint>
#include <memory>

#include "data/augment/augmentation_members.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::unique_ptr<Augmentation> Flip(double probability) {
  HorizontalFlipSpec spec;
  spec.set_probability(probability);
  return Make(spec, /*input_size=*/0);
}

at::Tensor Images(int64_t batch) { return at::arange(batch * 3 * 2 * 4).to(at::kByte).view({batch, 3, 2, 4}); }

TEST(HorizontalFlip, AlwaysOrNever) {
  RandomStream random(1, "flip");
  EXPECT_TRUE(at::equal(Flip(1)->Apply(Images(3), &random), Images(3).flip(3)));
  EXPECT_TRUE(at::equal(Flip(0)->Apply(Images(3), &random), Images(3)));
}

TEST(HorizontalFlip, LeavesItsInputAsItWas) {
  const at::Tensor images = Images(3);
  RandomStream random(1, "flip");
  Flip(1)->Apply(images, &random);
  EXPECT_TRUE(at::equal(images, Images(3)));
}

TEST(HorizontalFlip, FlipsWithItsProbability) {
  // n = 100,000 with p = 0.3: mean 30,000, deviation sqrt(n * 0.3 * 0.7) = 144.9; 6 deviations have a chance of 2e-9.
  constexpr int64_t kImages = 100000;
  const at::Tensor images = at::tensor({0, 1}).to(at::kByte).view({1, 1, 1, 2}).expand({kImages, 1, 1, 2});
  RandomStream random(2, "flip");
  const at::Tensor flipped = Flip(0.3)->Apply(images, &random).select(3, 0);
  EXPECT_LE(std::abs(flipped.sum(at::kLong).item<int64_t>() - 30000), 6 * 144.9);
}

TEST(HorizontalFlip, ABatchIsItsPartsInOrder) {
  const at::Tensor images = Images(40);
  RandomStream whole(3, "flip");
  RandomStream parts(3, "flip");
  const auto flip = Flip(0.5);
  const at::Tensor first = flip->Apply(images.slice(0, 0, 15), &parts);
  const at::Tensor second = flip->Apply(images.slice(0, 15, 40), &parts);
  EXPECT_TRUE(at::equal(flip->Apply(images, &whole), at::cat({first, second})));
}

}  // namespace
}  // namespace openset
