#include "models/networks/dropout.h"

#include <cmath>

#include "core/tensor/torch_generator.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"

namespace openset {
namespace {

at::Tensor Dropped(double probability, Dropout::Drops drops, const at::Tensor& x, uint64_t seed = 1) {
  Dropout dropout(probability, drops);
  dropout.SetGenerator(MakeGenerator(at::kCPU, seed));
  return dropout.Forward(x);
}

// Of 10,000 elements, 2,500 are dropped on average with a standard deviation of 43.3; 4.9 of them: of all seeds, 1e-6
// would fail.
TEST(Dropout, DropsElementsAndScalesTheRest) {
  const at::Tensor x = at::full({100, 100}, 3.0);
  const at::Tensor dropped = Dropped(0.25, Dropout::Drops::kElements, x);
  const at::Tensor zero = dropped.eq(0);
  EXPECT_NEAR(zero.sum().item<double>(), 2500, 4.9 * std::sqrt(10000 * 0.25 * 0.75));
  EXPECT_THAT(dropped.masked_select(zero.logical_not()),
              TensorNear(at::full({10000 - zero.sum().item<int64_t>()}, 4), 0));
}

TEST(Dropout, DropsWholeChannels) {
  const at::Tensor dropped = Dropped(0.5, Dropout::Drops::kChannels, at::ones({8, 16, 3, 5}));
  const at::Tensor sum = dropped.sum({2, 3});
  EXPECT_TRUE(sum.eq(0).logical_or(sum.eq(2 * 15)).all().item<bool>());
  // 128 channels, half of them on average, standard deviation 5.7.
  EXPECT_NEAR(sum.eq(0).sum().item<double>(), 64, 28);
}

// LibTorch's own dropout, after at::manual_seed.
TEST(Dropout, DrawsTheBitsOfLibTorch) {
  const at::Tensor x =
      at::linspace(-1, 1, 2 * 3 * 4 * 4).reshape({2, 3, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast);
  at::manual_seed(7);
  const at::Tensor elements = at::dropout(x, 0.3, /*train=*/true), channels = at::feature_dropout(x, 0.3, true);
  const at::Generator generator = MakeGenerator(at::kCPU, 7);
  Dropout of_elements(0.3, Dropout::Drops::kElements), of_channels(0.3, Dropout::Drops::kChannels);
  of_elements.SetGenerator(generator);
  of_channels.SetGenerator(generator);
  EXPECT_THAT(of_elements.Forward(x), TensorEq(elements));
  EXPECT_THAT(of_channels.Forward(x), TensorEq(channels));
}

TEST(Dropout, FactorIsWhatForwardMultipliesBy) {
  const at::Tensor x = at::linspace(-1, 1, 2 * 3 * 4 * 4).reshape({2, 3, 4, 4});
  for (const auto drops : {Dropout::Drops::kElements, Dropout::Drops::kChannels}) {
    Dropout dropout(0.3, drops);
    dropout.SetGenerator(MakeGenerator(at::kCPU, 1));
    const at::Tensor factor = dropout.Factor(x);
    EXPECT_EQ(factor.sizes(), (drops == Dropout::Drops::kElements ? x.sizes() : at::IntArrayRef({2, 3, 1, 1})));
    EXPECT_THAT(x * factor, TensorEq(Dropped(0.3, drops, x)));
    dropout.eval();
    EXPECT_FALSE(dropout.Factor(x).defined());
  }
}

TEST(Dropout, DrawsFromItsGeneratorAlone) {
  const at::Tensor x = at::ones({64});
  const at::Tensor first = Dropped(0.5, Dropout::Drops::kElements, x);
  at::manual_seed(3);
  const at::Tensor untouched = at::rand({3});
  at::manual_seed(3);
  EXPECT_THAT(Dropped(0.5, Dropout::Drops::kElements, x), TensorEq(first));
  EXPECT_THAT(at::rand({3}), TensorEq(untouched));
  EXPECT_THAT(Dropped(0.5, Dropout::Drops::kElements, x, 2), Not(TensorEq(first)));
}

// 1 / 0.9 in BF16 is 0.16 % too small. The products of 9,000 elements, each rounded by up to 0.2 %, average to 1e-5.
TEST(Dropout, TheScaleIsNotRoundedToFewDigits) {
  const at::Tensor x = at::linspace(1, 2, 10000).to(at::kBFloat16);
  for (const at::Tensor& shaped : {x, x.view({5000, 2})}) {
    const auto drops = shaped.dim() == 1 ? Dropout::Drops::kElements : Dropout::Drops::kChannels;
    const at::Tensor dropped = Dropped(0.1, drops, shaped);
    EXPECT_EQ(dropped.scalar_type(), at::kBFloat16);
    const at::Tensor kept = shaped.to(at::kDouble) * dropped.ne(0);
    EXPECT_NEAR(dropped.sum(at::kDouble).item<double>() / kept.sum().item<double>() * 0.9, 1, 2e-4);
  }
}

TEST(Dropout, DoesNothingInEvaluationOrAtZero) {
  const at::Tensor x = at::ones({4, 2});
  Dropout dropout(0.5, Dropout::Drops::kElements);
  dropout.eval();
  EXPECT_THAT(dropout.Forward(x), TensorEq(x));
  Dropout none(0, Dropout::Drops::kElements);
  EXPECT_THAT(none.Forward(x), TensorEq(x));
  EXPECT_EQ(Dropped(0.5, Dropout::Drops::kChannels, at::ones({0, 2, 3, 3})).numel(), 0);
}

TEST(Dropout, GradientsAreThoseOfTheMask) {
  at::Tensor x = at::ones({50}).set_requires_grad(true);
  const at::Tensor dropped = Dropped(0.5, Dropout::Drops::kElements, x);
  dropped.sum().backward();
  EXPECT_THAT(x.grad(), TensorEq(dropped.detach()));
}

TEST(DropoutDeathTest, NeedsAGenerator) {
  EXPECT_DEATH(Dropout(0.5, Dropout::Drops::kElements).Forward(at::ones({2})), "without a generator");
}

}  // namespace
}  // namespace openset
