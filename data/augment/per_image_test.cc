#include "data/augment/per_image.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(PerImage, BroadcastsOverThePixelsOfItsImage) {
  const at::Tensor images = at::ones({2, 3, 1, 2}, at::kFloat);
  const at::Tensor scaled = images * PerImage({0.5, 4}, at::kFloat, images);
  EXPECT_TRUE(at::equal(scaled[0], at::full({3, 1, 2}, 0.5f)));
  EXPECT_TRUE(at::equal(scaled[1], at::full({3, 1, 2}, 4.0f)));
}

TEST(PerImage, HasTheGivenType) { EXPECT_EQ(PerImage({7}, at::kByte, at::ones({1, 1, 1, 1})).dtype(), at::kByte); }

TEST(PerImageDeathTest, WantsOneValuePerImage) {
  EXPECT_DEATH(PerImage({1, 2}, at::kFloat, at::ones({3, 1, 1, 1})), "one value per image");
}

}  // namespace
}  // namespace openset
