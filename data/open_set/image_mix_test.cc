#include "data/open_set/image_mix.h"

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

ImageMixSpec SpecOf(ImageMixSpec::Kind kind, double alpha) {
  ImageMixSpec spec;
  spec.set_kind(kind);
  spec.set_alpha(alpha);
  return spec;
}

TEST(MixImages, MixupWeighsThePixels) {
  const ImageMixSpec spec = SpecOf(ImageMixSpec::MIXUP, 0.5);
  RandomStream random(1, "mix"), same(1, "mix");
  const MixedImages mixed = MixImages(spec, at::full({2, 3, 4, 4}, 10), at::full({2, 3, 4, 4}, 20), &random);
  EXPECT_EQ(mixed.share, same.Beta(0.5, 0.5));
  EXPECT_THAT(mixed.image, TensorNear(at::full({2, 3, 4, 4}, 20 - 10 * mixed.share), 1e-5));
}

TEST(MixImages, CutMixPastesAWindow) {
  const ImageMixSpec spec = SpecOf(ImageMixSpec::CUTMIX, 1);
  double shares = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomStream random(seed, "mix"), same(seed, "mix");
    const MixedImages mixed = MixImages(spec, at::zeros({1, 1, 8, 6}), at::ones({1, 1, 8, 6}), &random);
    // The share is the fraction of unchanged pixels.
    EXPECT_NEAR(mixed.image.mean().item<double>(), 1 - mixed.share, 1e-6);
    const double drawn = same.Beta(1, 1);
    EXPECT_GE(mixed.share, drawn - 1e-12) << "a window is rounded down and cut at the border";
    // The pasted pixels form a rectangle.
    const at::Tensor rows = mixed.image.amax(3).sum(), columns = mixed.image.amax(2).sum();
    EXPECT_EQ(rows.item<double>() * columns.item<double>(), mixed.image.sum().item<double>());
    shares += mixed.share;
  }
  EXPECT_GT(shares / 400, 0.5);  // drawn uniformly from [0, 1], then increased
}

TEST(MixImages, TheSharesCanHaveTwoParameters) {
  ImageMixSpec spec = SpecOf(ImageMixSpec::MIXUP, 0.1);
  spec.set_beta(3);
  RandomStream random(2, "mix"), same(2, "mix");
  EXPECT_EQ(MixImages(spec, at::zeros({1, 1, 2, 2}), at::ones({1, 1, 2, 2}), &random).share, same.Beta(0.1, 3));
}

}  // namespace
}  // namespace openset
