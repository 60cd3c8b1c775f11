#include "data/open_set/mixed_images.h"

#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/open_set/image_mix.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(MixedImagesSource, MixesTheBatchWithAnOrderOfIt) {
  MixedImagesSpec spec;
  spec.mutable_mix()->set_kind(ImageMixSpec::MIXUP);
  spec.mutable_mix()->set_alpha(2);
  const auto source = MakeMixedImages(spec);
  EXPECT_TRUE(source->ReplacesBatch());
  spec.set_beside_batch(true);
  EXPECT_FALSE(MakeMixedImages(spec)->ReplacesBatch());

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
