#include "data/augment/augmentation_members.h"

#include "data/augment/resize.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr int kInputSize = 6;

// Expects of Make(spec) what `augmentation` does.
void ExpectMakes(const AugmentationSpec& spec, const Augmentation& augmentation) {
  const at::Tensor images = at::arange(10 * 3 * 8 * 8).to(at::kByte).view({10, 3, 8, 8});
  RandomStream random(1, "make");
  RandomStream same(1, "make");
  const at::Tensor result = Make(spec, kInputSize)->Apply(images, &random);
  EXPECT_TRUE(at::equal(result, augmentation.Apply(images, &same)));
  EXPECT_FALSE(result.sizes() == images.sizes() && at::equal(result, images));
  for (const PixelSize size : {PixelSize{8, 8}, PixelSize{11, 8}, PixelSize{5, 9}}) {
    const PixelSize after = augmentation.SizeAfter(size);
    const at::Tensor some = augmentation.Apply(at::zeros({2, 3, size.height, size.width}, at::kByte), &random);
    EXPECT_EQ(some.sizes(), at::IntArrayRef({2, 3, after.height, after.width}));
  }
}

TEST(MakeAugmentation, RandAugment) {
  AugmentationSpec spec;
  spec.mutable_rand_augment()->set_ops(2);
  spec.mutable_rand_augment()->set_magnitude(7);
  spec.mutable_rand_augment()->set_op_list(RandAugmentSpec::DIGITS_13);
  ExpectMakes(spec, *Make(spec.rand_augment(), /*input_size=*/0));
}

TEST(MakeAugmentation, RandomCrop) {
  AugmentationSpec spec;
  spec.mutable_random_crop()->set_padding(3);
  ExpectMakes(spec, *Make(spec.random_crop(), kInputSize));
}

TEST(MakeAugmentation, HorizontalFlip) {
  AugmentationSpec spec;
  spec.mutable_horizontal_flip()->set_probability(0.7);
  ExpectMakes(spec, *Make(spec.horizontal_flip(), /*input_size=*/0));
}

TEST(MakeAugmentation, RandomGreyscale) {
  AugmentationSpec spec;
  spec.mutable_random_greyscale()->set_probability(0.7);
  ExpectMakes(spec, *Make(spec.random_greyscale(), /*input_size=*/0));
}

TEST(MakeAugmentation, Resize) {
  AugmentationSpec spec;
  spec.mutable_resize();
  ExpectMakes(spec, *MakeResize(kInputSize));
  RandomStream random(1, "make");
  const at::Tensor resized = Make(spec, kInputSize)->Apply(at::zeros({2, 1, 9, 4}, at::kByte), &random);
  EXPECT_EQ(resized.sizes(), at::IntArrayRef({2, 1, kInputSize, kInputSize}));
}

TEST(MakeAugmentation, ResizeOfTheShorterSide) {
  AugmentationSpec spec;
  spec.mutable_resize()->set_shorter_side(5);
  ExpectMakes(spec, *MakeResizeShorterSide(5));
}

TEST(MakeAugmentation, RandomResizedCrop) {
  AugmentationSpec spec;
  spec.mutable_random_resized_crop()->set_min_area(0.3);
  ExpectMakes(spec, *Make(spec.random_resized_crop(), kInputSize));
}

TEST(MakeAugmentation, CenterCrop) {
  AugmentationSpec spec;
  spec.mutable_center_crop();
  ExpectMakes(spec, *Make(CenterCropSpec(), kInputSize));
}

TEST(MakeAugmentation, AugMix) {
  AugmentationSpec spec;
  spec.mutable_aug_mix()->set_width(2);
  spec.mutable_aug_mix()->set_severity(5);
  ExpectMakes(spec, *Make(spec.aug_mix(), /*input_size=*/0));
}

TEST(MakeAugmentationDeathTest, WantsAKind) { EXPECT_DEATH(Make(AugmentationSpec(), kInputSize), "without a kind"); }

}  // namespace
}  // namespace openset
