#include "data/open_set/image_mix.h"

#include <tuple>

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
  const ImageMixDraw draw = DrawImageMix(spec, 4, 4, &random);
  EXPECT_EQ(draw.share, same.Beta(0.5, 0.5));
  EXPECT_THAT(MixImages(spec, draw, at::full({2, 3, 4, 4}, 10), at::full({2, 3, 4, 4}, 20)),
              TensorNear(at::full({2, 3, 4, 4}, 20 - 10 * draw.share), 1e-5));
}

TEST(MixImages, CutMixPastesAWindow) {
  const ImageMixSpec spec = SpecOf(ImageMixSpec::CUTMIX, 1);
  double shares = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomStream random(seed, "mix"), same(seed, "mix");
    const ImageMixDraw draw = DrawImageMix(spec, 8, 6, &random);
    const at::Tensor image = MixImages(spec, draw, at::zeros({1, 1, 8, 6}), at::ones({1, 1, 8, 6}));
    // The share is the fraction of unchanged pixels.
    EXPECT_NEAR(image.mean().item<double>(), 1 - draw.share, 1e-6);
    const double drawn = same.Beta(1, 1);
    EXPECT_GE(draw.share, drawn - 1e-12) << "a window is rounded down and cut at the border";
    // The pasted pixels form a rectangle.
    const at::Tensor rows = image.amax(3).sum(), columns = image.amax(2).sum();
    EXPECT_EQ(rows.item<double>() * columns.item<double>(), image.sum().item<double>());
    shares += draw.share;
  }
  EXPECT_GT(shares / 400, 0.5);  // drawn uniformly from [0, 1], then increased
}

TEST(MixImages, TheSharesCanHaveTwoParameters) {
  ImageMixSpec spec = SpecOf(ImageMixSpec::MIXUP, 0.1);
  spec.set_beta(3);
  RandomStream random(2, "mix"), same(2, "mix");
  EXPECT_EQ(DrawImageMix(spec, 2, 2, &random).share, same.Beta(0.1, 3));
}

TEST(ImageMixDraw, IsKeptAsNumbers) {
  RandomStream random(3, "mix");
  const ImageMixDraw draw = DrawImageMix(SpecOf(ImageMixSpec::CUTMIX, 1), 8, 6, &random);
  const ImageMixDraw same = ImageMixDrawOf(NumbersOf(draw));
  EXPECT_EQ(same.share, draw.share);
  EXPECT_EQ(std::tie(same.top, same.bottom, same.left, same.right),
            std::tie(draw.top, draw.bottom, draw.left, draw.right));
}

}  // namespace
}  // namespace openset
