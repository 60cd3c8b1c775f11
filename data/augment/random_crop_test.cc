#include <cstdint>
#include <memory>

#include "data/augment/augmentation_members.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::unique_ptr<Augmentation> Crop(int padding) {
  RandomCropSpec spec;
  spec.set_padding(padding);
  return Make(spec, /*input_size=*/0);
}

// Images of pixels that differ from each other and from 0.
at::Tensor Images(int64_t batch, int64_t height, int64_t width) {
  return at::arange(1, batch * 3 * height * width + 1)
      .remainder_(255)
      .add_(1)
      .to(at::kByte)
      .view({batch, 3, height, width});
}

TEST(RandomCrop, IsAWindowOfTheZeroPaddedImage) {
  const at::Tensor images = Images(20, 3, 5);
  RandomStream random(1, "crop");
  RandomStream same(1, "crop");
  const at::Tensor cropped = Crop(2)->Apply(images, &random);
  ASSERT_EQ(cropped.sizes(), images.sizes());
  EXPECT_TRUE(cropped.is_contiguous());
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t top = static_cast<int64_t>(same.Below(5)) - 2;
    const int64_t left = static_cast<int64_t>(same.Below(5)) - 2;
    for (int64_t y = 0; y < 3; ++y) {
      for (int64_t x = 0; x < 5; ++x) {
        const bool inside = y + top >= 0 && y + top < 3 && x + left >= 0 && x + left < 5;
        for (int64_t c = 0; c < 3; ++c) {
          EXPECT_EQ(cropped[i][c][y][x].item<int>(), inside ? images[i][c][y + top][x + left].item<int>() : 0);
        }
      }
    }
  }
}

// torchvision's RandomCrop(4, padding=1) of 6 x 7 images: corners in {0 ... 4} x {0 ... 5} of the 8 x 9 padded ones.
TEST(RandomCrop, OfTheInputSizeNeedsNoResize) {
  RandomCropSpec spec;
  spec.set_padding(1);
  spec.set_window(RandomCropSpec::INPUT_SIZE);
  const auto crop = Make(spec, 4);
  EXPECT_EQ(crop->size_effect(), SizeEffect::kFixes);
  EXPECT_EQ(Crop(1)->size_effect(), SizeEffect::kKeeps);
  const at::Tensor images = Images(20, 6, 7);
  RandomStream random(1, "crop");
  RandomStream same(1, "crop");
  const at::Tensor cropped = crop->Apply(images, &random);
  ASSERT_EQ(cropped.sizes(), at::IntArrayRef({20, 3, 4, 4}));
  const at::Tensor padded = at::constant_pad_nd(images, {1, 1, 1, 1}, 0);
  for (int64_t i = 0; i < 20; ++i) {
    const auto top = static_cast<int64_t>(same.Below(5));
    const auto left = static_cast<int64_t>(same.Below(6));
    EXPECT_TRUE(at::equal(cropped[i], padded[i].slice(1, top, top + 4).slice(2, left, left + 4)));
  }
  // An image that is too small, even with its padding, is in the middle of zeros.
  EXPECT_EQ(crop->Apply(at::ones({1, 3, 1, 2}, at::kByte), &random).sum().item<int64_t>(), 6);
}

TEST(RandomCrop, WithoutPaddingTheImagesStay) {
  RandomStream random(1, "crop");
  EXPECT_TRUE(at::equal(Crop(0)->Apply(Images(4, 6, 5), &random), Images(4, 6, 5)));
}

TEST(RandomCrop, EachCornerIsEquallyLikely) {
  // The one bright pixel, in the middle of 3 x 3, tells the offset. n = 90,000 crops over 9 corners: counts have mean
  // 10,000 and deviation sqrt(n * 1/9 * 8/9) = 94.3; that one of 9 is off by 6 deviations has a chance of 2e-8.
  constexpr int64_t kCrops = 90000;
  at::Tensor image = at::zeros({1, 1, 3, 3}, at::kByte);
  image[0][0][1][1] = 1;
  RandomStream random(2, "crop");
  const at::Tensor counts = Crop(1)->Apply(image.expand({kCrops, 1, 3, 3}), &random).to(at::kLong).sum(0);
  EXPECT_LE((counts - kCrops / 9).abs().max().item<int64_t>(), 6 * 94.3);
}

TEST(RandomCrop, ABatchIsItsPartsInOrder) {
  const at::Tensor images = Images(5, 4, 4);
  RandomStream whole(3, "crop");
  RandomStream parts(3, "crop");
  const auto crop = Crop(4);
  const at::Tensor first = crop->Apply(images.slice(0, 0, 2), &parts);
  const at::Tensor second = crop->Apply(images.slice(0, 2, 5), &parts);
  EXPECT_TRUE(at::equal(crop->Apply(images, &whole), at::cat({first, second})));
}

}  // namespace
}  // namespace openset
