#include "experiments/train/open_set/mixed_images.h"

#include <tuple>

#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/open_set_members.h"

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

TEST(MixedImagesSource, MixesTheBatchWithAnOrderOfIt) {
  MixedImagesSpec spec;
  spec.mutable_mix()->set_kind(ImageMixSpec::MIXUP);
  spec.mutable_mix()->set_alpha(2);
  const auto source = *Make(spec, {});
  EXPECT_TRUE(source->ReplacesBatch());
  spec.set_beside_batch(true);
  EXPECT_FALSE((*Make(spec, {}))->ReplacesBatch());

  Batch batch;
  batch.image = at::arange(4 * 12, at::kFloat).view({4, 3, 2, 2});
  batch.label = at::tensor({5, 6, 7, 8}, at::kLong);
  RandomStream random(1, "mix"), same(1, "mix");
  ASSERT_THAT(DrawOpenSet(source.get(), &random, &batch), IsOk());
  const at::Tensor order = at::tensor(same.Permutation(4), at::kLong);
  const ImageMixDraw draw = DrawImageMix(spec.mix(), 2, 2, &same);
  EXPECT_THAT(batch.open->image,
              TensorEq(MixImages(spec.mix(), draw, batch.image, batch.image.index_select(0, order))));

  ModelOutput extra;
  extra.logits = at::ones({4, 9});
  const OpenSet open = source->Make({batch, extra, extra, {}, {}, {}});
  EXPECT_THAT(open.slot, TensorEq(at::arange(4)));
  EXPECT_THAT(open.partner, TensorEq(batch.label.index_select(0, order)));
  EXPECT_THAT(open.share, TensorNear(at::full({4}, draw.share), 1e-6));
  EXPECT_THAT(open.weight, TensorEq(at::ones({4})));
}

}  // namespace
}  // namespace openset
