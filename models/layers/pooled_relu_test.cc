#include "models/layers/pooled_relu.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace openset {
namespace {

// As integers, so that NaN equals NaN and -0 is not 0. A NaN of BF16 may have any bits.
at::Tensor Bits(const at::Tensor& x) {
  if (x.scalar_type() == at::kFloat) return x.contiguous().view(at::kInt);
  return x.contiguous().view(at::kShort).masked_fill(x.isnan(), 0x7fc0);
}

struct Result {
  at::Tensor y, gradient;
};

template <typename Operation>
Result Run(const at::Tensor& x, const at::Tensor& weight, Operation operation) {
  const at::Tensor input = x.detach().clone(at::MemoryFormat::Preserve).set_requires_grad(true);
  // Not a leaf, as after a convolution.
  const at::Tensor y = operation(input * 1);
  (y * weight).sum().backward();
  return {y.detach(), input.grad()};
}

// With and without a gradient.
void ExpectSame(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& factor) {
  const Result ours = Run(x, weight, [&](const at::Tensor& input) { return PooledRelu(input, factor); });
  const Result theirs = Run(x, weight, [&](const at::Tensor& input) {
    return at::max_pool2d((input * factor).to(input.scalar_type()), 2).relu_();
  });
  EXPECT_TRUE(at::equal(Bits(ours.y), Bits(theirs.y))) << x.sizes();
  EXPECT_TRUE(at::equal(Bits(ours.gradient), Bits(theirs.gradient))) << x.sizes();
  const c10::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(Bits(PooledRelu(x, factor)), Bits(theirs.y))) << x.sizes();
}

void ExpectAsLibTorch(const at::Tensor& x) {
  at::Tensor weight = at::randn({x.size(0), x.size(1), x.size(2) / 2, x.size(3) / 2}).to(x.scalar_type());
  weight.view(-1).slice(0, 0, std::nullopt, 5).fill_(-0.0);
  const Result ours = Run(x, weight, [](const at::Tensor& input) { return PooledRelu(input); });
  const Result theirs = Run(x, weight, [](const at::Tensor& input) { return at::max_pool2d(input, 2).relu_(); });
  EXPECT_TRUE(at::equal(Bits(ours.y), Bits(theirs.y))) << x.sizes();
  EXPECT_TRUE(at::equal(Bits(ours.gradient), Bits(theirs.gradient))) << x.sizes();
  EXPECT_EQ(ours.y.strides(), theirs.y.strides()) << x.sizes();
  EXPECT_EQ(ours.gradient.strides(), theirs.gradient.strides()) << x.sizes();
  // Two BF16s times 1.25 can round to the same number, of which LibTorch takes the first.
  const float odd = x.scalar_type() == at::kBFloat16 ? 0.5f : 1.25f;
  const at::Tensor factor =
      at::tensor({0.0f, 1.0f, odd, 2.0f}).index_select(0, at::randint(4, {x.size(0) * x.size(1)}, at::kLong));
  ExpectSame(x, weight, factor.view({x.size(0), x.size(1), 1, 1}));
  const c10::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(Bits(PooledRelu(x)), Bits(ours.y))) << x.sizes();
}

TEST(PooledRelu, TakesTheLargestOfEachSquareOrZero) {
  const at::Tensor x = at::tensor({1.0f, 4.0f, -3.0f, -2.0f,  //
                                   2.0f, 3.0f, -1.0f, -4.0f})
                           .view({1, 1, 2, 4});
  EXPECT_TRUE(at::equal(PooledRelu(x), at::tensor({4.0f, 0.0f}).view({1, 1, 1, 2})));
}

TEST(PooledRelu, IsLibTorchsToTheBit) {
  at::manual_seed(1);
  for (const int64_t channels : {1, 2, 5, 7, 8, 9, 10, 16, 20, 33}) {
    for (const auto& [height, width] : std::vector<std::pair<int64_t, int64_t>>{{28, 28}, {5, 7}, {2, 3}}) {
      for (const auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::Contiguous}) {
        const at::Tensor x = at::randn({3, channels, height, width}).contiguous(format);
        ExpectAsLibTorch(x);
        ExpectAsLibTorch(x.to(at::kBFloat16));
      }
    }
  }
}

// Ties, zeros of both signs (a dropped channel has them), infinities and NaN at each position of a square.
TEST(PooledRelu, IsLibTorchsForValuesThatAreNotOrdinary) {
  at::manual_seed(2);
  const float infinity = std::numeric_limits<float>::infinity();
  const at::Tensor values = at::tensor({0.0f, -0.0f, 1.0f, -1.0f, infinity, -infinity, std::nanf("")});
  for (int round = 0; round < 20; ++round) {
    const at::Tensor x = values.index_select(0, at::randint(values.size(0), {2 * 10 * 6 * 6}, at::kLong));
    const at::Tensor images = x.view({2, 10, 6, 6}).contiguous(at::MemoryFormat::ChannelsLast);
    ExpectAsLibTorch(images);
    ExpectAsLibTorch(images.to(at::kBFloat16));
  }
}

TEST(PooledRelu, IsLibTorchsInOtherTypesAndFromParts) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({2, 6, 8, 8}).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(at::equal(PooledRelu(x.to(at::kDouble)), at::max_pool2d(x.to(at::kDouble), 2).relu_()));
  EXPECT_TRUE(at::equal(PooledRelu(x.to(at::kBFloat16)), at::max_pool2d(x.to(at::kBFloat16), 2).relu_()));
  const at::Tensor factor = at::full({2, 6, 1, 1}, 1.25f);
  EXPECT_TRUE(at::equal(PooledRelu(x.to(at::kBFloat16), factor),
                        at::max_pool2d((x.to(at::kBFloat16) * factor).to(at::kBFloat16), 2).relu_()));
  const at::Tensor part = x.slice(1, 0, 3);  // its pixels are 6 channels apart
  EXPECT_TRUE(at::equal(PooledRelu(part), at::max_pool2d(part, 2).relu_()));
}

TEST(PooledRelu, PassesBackTwiceFromOneForward) {
  const at::Tensor x = at::randn({1, 4, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast).set_requires_grad(true);
  const at::Tensor sum = PooledRelu(x * 1).sum();
  sum.backward({}, /*retain_graph=*/true);
  const at::Tensor once = x.grad().clone();
  sum.backward();
  EXPECT_TRUE(at::equal(x.grad(), 2 * once));
}

}  // namespace
}  // namespace openset
