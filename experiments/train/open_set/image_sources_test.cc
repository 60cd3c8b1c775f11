#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "experiments/train/open_set/images_of.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

// Images of 2x2 whose pixels are all 1, 2, 3, ... (negative for `sign` -1).
Batch BatchOf(std::vector<int64_t> label, float sign = 1) {
  const auto n = static_cast<int64_t>(label.size());
  Batch batch;
  batch.image = (sign * at::arange(1, n + 1, at::kFloat)).view({n, 1, 1, 1}).expand({n, 1, 2, 2}).contiguous();
  batch.label = at::tensor(label, at::kLong);
  batch.sample = at::arange(n, at::kLong);
  return batch;
}

NoiseImagesSpec Noise(double share, NoiseImagesSpec::Range range = NoiseImagesSpec::ZERO_TO_MAXIMUM) {
  NoiseImagesSpec spec;
  spec.set_share(share);
  spec.set_range(range);
  return spec;
}

OverlayImagesSpec Overlay(OverlayImagesSpec::Pairs pairs, double share) {
  OverlayImagesSpec spec;
  spec.set_share(share);
  spec.set_pairs(pairs);
  return spec;
}

TEST(NoiseImages, FillTheRange) {
  RandomStream random(1, "noise");
  const Batch batch = BatchOf(std::vector<int64_t>(200, 0), -1);  // -1 to -200
  const at::Tensor to_maximum = ImagesOf(*Make(Noise(0.5), {}), batch, &random).value();
  EXPECT_EQ(to_maximum.sizes(), at::IntArrayRef({100, 1, 2, 2}));
  EXPECT_GE(to_maximum.min().item<float>(), -1);
  EXPECT_LE(to_maximum.max().item<float>(), 0);
  const at::Tensor all = ImagesOf(*Make(Noise(0.5, NoiseImagesSpec::MINIMUM_TO_MAXIMUM), {}), batch, &random).value();
  EXPECT_GE(all.min().item<float>(), -200);
  EXPECT_LE(all.max().item<float>(), -1);
  // The mean of 400 uniform values: 6 standard errors of 199 / sqrt(12 * 400).
  EXPECT_NEAR(all.mean().item<double>(), -100.5, 6 * 199 / 69.3);
}

TEST(NoiseImages, RepeatWithTheStreamAndRoundDown) {
  const Batch batch = BatchOf({0, 1, 0});
  RandomStream a(1, "noise"), b(1, "noise"), c(2, "noise");
  const at::Tensor images = ImagesOf(*Make(Noise(0.5), {}), batch, &a).value();
  EXPECT_EQ(images.size(0), 1);
  EXPECT_THAT(ImagesOf(*Make(Noise(0.5), {}), batch, &b).value(), TensorEq(images));
  EXPECT_THAT(ImagesOf(*Make(Noise(0.5), {}), batch, &c).value(), Not(TensorEq(images)));
  EXPECT_FALSE(ImagesOf(*Make(Noise(0.3), {}), batch, &a).value().defined());
}

// Classes 0 (images 1, 4), 1 (2), 5 (3): pairs 01, 05, 15, 01; of class 0 the 0th, 1st, 1st.
TEST(OverlayImages, CycleThroughThePairsOfClasses) {
  const Batch batch = BatchOf({0, 1, 5, 0});
  const at::Tensor images =
      ImagesOf(*Make(Overlay(OverlayImagesSpec::CYCLE, 1), {}), batch, /*random=*/nullptr).value();
  EXPECT_THAT(images.select(1, 0).select(1, 0).select(1, 0),
              TensorNear(at::tensor({(1 + 2) / 2.0, (4 + 3) / 2.0, (2 + 3) / 2.0, (4 + 2) / 2.0}), 1e-6));
}

// Images of class 0 are 1, 3, 5, ...: the mean of an odd and an even number is never whole, but the mean of two images
// of one class is.
TEST(OverlayImages, RandomPairsAreOfDifferentClasses) {
  std::vector<int64_t> label;
  for (int i = 0; i < 50; ++i) label.push_back(i % 2);
  RandomStream random(1, "overlay");
  const at::Tensor images = ImagesOf(*Make(Overlay(OverlayImagesSpec::RANDOM, 2), {}), BatchOf(label), &random).value();
  ASSERT_EQ(images.size(0), 100);
  EXPECT_TRUE((images - images.floor()).eq(0.5).all().item<bool>());
}

TEST(OverlayImages, RoundUpAndNeedTwoClasses) {
  const auto source = *Make(Overlay(OverlayImagesSpec::CYCLE, 0.5), {});
  EXPECT_EQ(ImagesOf(source, BatchOf({0, 1, 0}), nullptr).value().size(0), 2);
  EXPECT_FALSE(ImagesOf(source, BatchOf({3, 3, 3}), nullptr).value().defined());
}

TEST(ExtraImageSource, MakesTheExtraOutputsOpen) {
  const auto source = *Make(Overlay(OverlayImagesSpec::CYCLE, 0.5), {});
  const Batch batch = BatchOf({0, 1});
  ModelOutput known, extra, none;
  known.logits = at::zeros({2, 3});
  known.feature = at::zeros({2, 4});
  extra.logits = at::ones({1, 3});
  extra.feature = at::ones({1, 4});
  const OpenSet open = source->Make({batch, known, extra, {}, {}, {}});
  EXPECT_THAT(open.output.logits, TensorEq(extra.logits));
  EXPECT_THAT(open.weight, TensorEq(at::ones({1})));
  EXPECT_FALSE(open.slot.defined());
  EXPECT_EQ(source->Make({batch, known, none, {}, {}, {}}).output.logits.size(0), 0);
}

}  // namespace
}  // namespace openset
