#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

// A network of three stages that add 1, 10 and 100 to the image; the logits are its values.
ModelOutput ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps) {
  at::Tensor map = x;
  for (int s = stage; s < 3; ++s) {
    map = map + std::vector<double>{1, 10, 100}[s];
    if (maps != nullptr) maps->push_back(map);
  }
  return {map.flatten(1), map.flatten(1), {}, {}};
}

OpenSet MakeFrom(Batch batch, RandomStream* random) {
  StageMixupSpec spec;
  spec.set_alpha(2);
  const ModelOutput known = ForwardFrom(0, batch.image, nullptr);
  const ModelOutput none;
  OpenSetSetting setting;
  setting.stages = 3;
  const auto source = *Make(spec, setting);
  EXPECT_THAT(DrawOpenSet(source.get(), random, &batch), IsOk());
  return source->Make({batch, known, none, {}, {}, {}, ForwardFrom});
}

TEST(StageMixupSource, MixesTheFirstHalfAfterTheLastStageButOne) {
  const Batch batch{at::arange(7 * 4, at::kDouble).view({7, 1, 2, 2}).square(), at::zeros({7}, at::kLong), {}};
  RandomStream random(1, "mix"), same(1, "mix");
  const OpenSet open = MakeFrom(batch, &random);
  const at::Tensor order = at::tensor(same.Permutation(3), at::kLong);
  const double share = same.Beta(2, 2);
  // The network is linear, so the mixture after its second stage is the images' mixture, plus 1 + 10 + 100.
  const at::Tensor image = batch.image.narrow(0, 0, 3).flatten(1);
  EXPECT_THAT(open.output.logits, TensorNear(share * image + (1 - share) * image.index_select(0, order) + 111, 1e-9));
  EXPECT_THAT(open.weight, TensorEq(at::ones({3}, at::kDouble)));
  EXPECT_FALSE(open.slot.defined());
}

TEST(StageMixupSource, OneImageGivesNone) {
  const Batch batch{at::ones({1, 1, 2, 2}), at::zeros({1}, at::kLong), {}};
  RandomStream random(1, "mix");
  EXPECT_EQ(MakeFrom(batch, &random).output.logits.size(0), 0);
}

}  // namespace
}  // namespace openset
