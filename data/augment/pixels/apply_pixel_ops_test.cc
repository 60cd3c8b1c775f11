#include "data/augment/pixels/apply_pixel_ops.h"

#include "data/augment/pixels/make_pixel_op.h"
#include "data/augment/testing/apply_each.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

at::Tensor Images(int64_t batch, int64_t channels = 3) {
  return (at::arange(batch * channels * 6 * 5, at::kInt) * 37 % 251).to(at::kByte).view({batch, channels, 6, 5});
}

TEST(ApplyPixelOps, ImagesGetTheirOwnOperationsInOrder) {
  // Halve and then invert: 255 - 50 = 205. Invert and then halve: 155 / 2 = 77.5.
  const at::Tensor images = at::full({3, 1, 1, 1}, 100, at::kByte);
  const PixelOp halve = EnhanceBrightness(0.5);
  const at::Tensor result = ApplyPixelOps(images, {halve, Invert(), Invert(), halve, PixelOp(), PixelOp()});
  EXPECT_TRUE(at::equal(result.flatten(), at::tensor({205, 77, 100}).to(at::kByte)));
}

// Buffers alternate, so that an even and an odd number of operations end in different ones.
TEST(ApplyPixelOps, OperationsThatDoNothingMayBeAnywhere) {
  const at::Tensor images = Images(1);
  const at::Tensor inverted = 255 - images;
  EXPECT_TRUE(at::equal(ApplyPixelOps(images, {PixelOp(), Invert(), PixelOp()}), inverted));
  EXPECT_TRUE(at::equal(ApplyPixelOps(images, {Invert(), PixelOp(), Invert()}), images));
  EXPECT_TRUE(at::equal(ApplyPixelOps(images, {Invert(), Invert(), PixelOp(), Invert()}), inverted));
  EXPECT_TRUE(at::equal(ApplyPixelOps(images, {}), images));
}

TEST(ApplyPixelOps, LeavesItsInputAndItsLayoutUnchanged) {
  const at::Tensor images = Images(2);
  const at::Tensor channels_last = images.contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor result = ApplyToAll(channels_last, EnhanceSharpness(0.3));
  EXPECT_TRUE(result.is_contiguous());
  EXPECT_TRUE(at::equal(result, ApplyToAll(images, EnhanceSharpness(0.3))));
  EXPECT_TRUE(at::equal(channels_last, Images(2)));
}

TEST(ApplyPixelOps, NoImages) { EXPECT_EQ(ApplyPixelOps(Images(0), {}).sizes(), at::IntArrayRef({0, 3, 6, 5})); }

TEST(ApplyPixelOpsDeathTest, NeedsAsManyOperationsForEachImage) {
  EXPECT_DEATH(ApplyPixelOps(Images(2), {Invert()}), "as many operations for each image");
}

TEST(ApplyPixelOpsDeathTest, NeedsOneOrThreeChannels) {
  EXPECT_DEATH(ApplyPixelOps(Images(1, 4), {Invert()}), "4 channels");
}

}  // namespace
}  // namespace openset
