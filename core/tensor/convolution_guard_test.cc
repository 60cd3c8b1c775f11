#include "core/tensor/convolution_guard.h"

#include "core/tensor/torch.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr at::MemoryFormat kContiguous = at::MemoryFormat::Contiguous;
constexpr at::MemoryFormat kChannelsLast = at::MemoryFormat::ChannelsLast;

at::Tensor Counting(at::IntArrayRef sizes, at::MemoryFormat layout) {
  const at::Tensor values = at::arange(12, at::kFloat).repeat({100}).slice(0, 0, c10::multiply_integers(sizes));
  return at::empty(sizes, at::TensorOptions().memory_format(layout)).copy_(values.view(sizes));
}

TEST(MayCorruptConvolutions, WithoutAvx512OrIfOneDnnMayNotUseIt) {
  EXPECT_TRUE(MayCorruptConvolutions(false, nullptr));
  EXPECT_TRUE(MayCorruptConvolutions(false, "AVX512_CORE"));
  EXPECT_TRUE(MayCorruptConvolutions(true, "AVX2"));
  EXPECT_TRUE(MayCorruptConvolutions(true, "AVX2_VNNI"));
  EXPECT_TRUE(MayCorruptConvolutions(true, "what we don't know"));
  EXPECT_FALSE(MayCorruptConvolutions(true, nullptr));
  EXPECT_FALSE(MayCorruptConvolutions(true, "DEFAULT"));
  EXPECT_FALSE(MayCorruptConvolutions(true, "AVX512_CORE"));
  EXPECT_FALSE(MayCorruptConvolutions(true, "AVX512_CORE_BF16"));
}

struct Convolution {
  int64_t in = 3;
  int64_t kernel = 1;
  int64_t stride = 2;
  int64_t padding = 0;
  at::MemoryFormat image_layout = kChannelsLast;
  at::MemoryFormat weight_layout = kChannelsLast;
};

// The number of outputs and gradients of a convolution of [2, in, 6, 6] that the guard computes.
int64_t Guarded(const Convolution& convolution) {
  const at::Tensor image = Counting({2, convolution.in, 6, 6}, convolution.image_layout).requires_grad_();
  const at::Tensor weight =
      Counting({4, convolution.in, convolution.kernel, convolution.kernel}, convolution.weight_layout).requires_grad_();
  const int64_t before = GuardedConvolutions();
  at::conv2d(image, weight, {}, convolution.stride, convolution.padding).sum().backward();
  return GuardedConvolutions() - before;
}

TEST(ConvolutionGuard, GuardsExactlyTheWrongConvolutions) {
  const int64_t both = ConvolutionsAreGuarded() ? 2 : 0;  // the output, and both gradients at once
  for (const int64_t in : {1, 2, 7}) EXPECT_EQ(Guarded({in}), both) << in;
  EXPECT_EQ(Guarded({3, 1, 2, 0, kChannelsLast, kContiguous}), both);
  EXPECT_EQ(Guarded({3, 1, 2, 0, kContiguous, kChannelsLast}), both);
  EXPECT_EQ(Guarded({3, 1, 3}), both);
  EXPECT_EQ(Guarded({3, 1, 2, 0, kContiguous, kContiguous}), 0);
  EXPECT_EQ(Guarded({8}), 0);
  EXPECT_EQ(Guarded({3, 1, 1}), 0);
  EXPECT_EQ(Guarded({3, 3, 2}), 0);
  EXPECT_EQ(Guarded({3, 1, 2, 1}), 0);
}

// Sums of small whole numbers: exact in any order.
TEST(ConvolutionGuard, GivesTheNumbersAndTheLayoutOfAConvolution) {
  const at::Tensor image = Counting({2, 3, 6, 4}, kChannelsLast).requires_grad_();
  const at::Tensor weight = Counting({5, 3, 1, 1}, kContiguous).requires_grad_();
  const at::Tensor bias = at::arange(5, at::kFloat).requires_grad_();
  const at::Tensor output = at::conv2d(image, weight, bias, 2);
  const at::Tensor pixels = image.detach().slice(2, 0, 6, 2).slice(3, 0, 4, 2);
  const at::Tensor matrix = weight.detach().view({5, 3});
  EXPECT_TRUE(at::equal(output, at::einsum("nihw,oi->nohw", {pixels, matrix}) + bias.detach().view({1, 5, 1, 1})));
  EXPECT_TRUE(output.is_contiguous(kChannelsLast));
  output.sum().backward();
  EXPECT_TRUE(at::equal(weight.grad().view({5, 3}), pixels.sum({0, 2, 3}).expand({5, 3})));
  at::Tensor by_image = at::zeros_like(image.detach());
  by_image.slice(2, 0, 6, 2).slice(3, 0, 4, 2).copy_(matrix.sum(0).view({1, 3, 1, 1}).expand({2, 3, 3, 2}));
  EXPECT_TRUE(at::equal(image.grad(), by_image));
  EXPECT_TRUE(image.grad().is_contiguous(kChannelsLast));
  EXPECT_TRUE(at::equal(bias.grad(), at::full({5}, 2.F * 3 * 2)));
}

// If oneDNN's kernel is correct, as for the output, the guard changes no bit. Calls oneDNN without the guard.
TEST(ConvolutionGuard, GivesTheKernelsBits) {
  at::manual_seed(0);
  for (int64_t in = 1; in <= 8; ++in) {
    for (const int64_t out : {int64_t{1}, 2 * in, int64_t{12}}) {
      for (const int64_t size : {5, 16}) {
        const at::Tensor image = at::randn({8, in, size, size}).contiguous(kChannelsLast);
        const at::Tensor weight = at::randn({out, in, 1, 1}).contiguous(kChannelsLast);
        const at::Tensor kernels = at::mkldnn_convolution(image, weight, {}, {0, 0}, {2, 2}, {1, 1}, 1);
        EXPECT_TRUE(at::equal(at::conv2d(image, weight, {}, 2), kernels)) << in << " to " << out << " at " << size;
      }
    }
  }
}

}  // namespace
}  // namespace openset
