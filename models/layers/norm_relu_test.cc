#include "models/layers/norm_relu.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/tensor/torch_autograd.h"
#include "core/tensor/torch_runtime.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr double kMomentum = 0.1;
constexpr double kEpsilon = 1e-5;

// As integers, so that NaN equals NaN and -0 is not 0.
at::Tensor Bits(const at::Tensor& x) {
  return x.contiguous().view(x.scalar_type() == at::kBFloat16 ? at::kShort : at::kInt);
}

// What one pass computes.
struct Result {
  at::Tensor y, x_gradient, weight_gradient, bias_gradient, shortcut_gradient, running_mean, running_var;
};

// One case; the operations get copies of its tensors.
struct Case {
  at::Tensor x, weight, bias, shortcut, y_weight;  // shortcut: may be undefined
  double negative_slope = 0;
  bool training = true;
};

using Operation = at::Tensor (*)(const at::Tensor&, const NormTensors&, const NormOptions&, const Relu&);

at::Tensor LibTorchs(const at::Tensor& x, const NormTensors& norm, const NormOptions& options, const Relu& relu) {
  at::Tensor z = at::batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_var, options.training,
                                options.momentum, options.epsilon, /*cudnn_enabled=*/true);
  if (relu.shortcut.defined()) z = z + relu.shortcut;
  return relu.negative_slope == 0 ? z.relu_() : at::leaky_relu_(z, relu.negative_slope);
}

// In FP32, rounded to x's type.
at::Tensor Rounded(const at::Tensor& x, const NormTensors& norm, const NormOptions& options, const Relu& relu) {
  const at::Tensor shortcut = relu.shortcut.defined() ? relu.shortcut.to(at::kFloat) : relu.shortcut;
  return NormRelu(x.to(at::kFloat), norm, options, {relu.negative_slope, shortcut}).to(x.scalar_type());
}

at::Tensor Leaf(const at::Tensor& x) { return x.detach().clone(at::MemoryFormat::Preserve).set_requires_grad(true); }

Result Run(const Case& of, Operation operation) {
  const int64_t channels = of.x.size(1);
  const at::Tensor x = Leaf(of.x), shortcut = of.shortcut.defined() ? Leaf(of.shortcut) : at::Tensor();
  const NormTensors norm = {Leaf(of.weight), Leaf(of.bias), at::linspace(-1, 1, channels),
                            at::linspace(1, 3, channels)};
  const at::Tensor y = operation(x * 1, norm, {of.training, kMomentum, kEpsilon},
                                 {of.negative_slope, shortcut.defined() ? shortcut * 1 : shortcut});
  // Without weights, the gradient is one number for each channel of an image.
  (of.y_weight.defined() ? (y * of.y_weight).sum() : y.mean({2, 3}).square().sum()).backward();
  return {y.detach(),
          x.grad(),
          norm.weight.grad(),
          norm.bias.grad(),
          shortcut.defined() ? shortcut.grad() : shortcut,
          norm.running_mean,
          norm.running_var};
}

void ExpectSameBits(const at::Tensor& ours, const at::Tensor& theirs, const char* what) {
  ASSERT_EQ(ours.defined(), theirs.defined()) << what;
  if (ours.defined()) {
    EXPECT_TRUE(at::equal(Bits(ours), Bits(theirs))) << what;
  }
}

void ExpectAs(Operation other, const Case& of) {
  SCOPED_TRACE(testing::Message() << of.x.sizes() << " slope " << of.negative_slope << " shortcut "
                                  << of.shortcut.defined() << " training " << of.training << " threads "
                                  << at::get_num_threads());
  const Result ours = Run(of, NormRelu), theirs = Run(of, other);
  ExpectSameBits(ours.y, theirs.y, "y");
  ExpectSameBits(ours.x_gradient, theirs.x_gradient, "gradient of x");
  ExpectSameBits(ours.weight_gradient, theirs.weight_gradient, "gradient of weight");
  ExpectSameBits(ours.bias_gradient, theirs.bias_gradient, "gradient of bias");
  ExpectSameBits(ours.shortcut_gradient, theirs.shortcut_gradient, "gradient of shortcut");
  ExpectSameBits(ours.running_mean, theirs.running_mean, "running mean");
  ExpectSameBits(ours.running_var, theirs.running_var, "running variance");
  EXPECT_EQ(ours.y.strides(), theirs.y.strides());
  EXPECT_EQ(ours.x_gradient.strides(), theirs.x_gradient.strides());
  const c10::NoGradGuard no_grad;
  const int64_t channels = of.x.size(1);
  const NormTensors norm = {of.weight, of.bias, at::linspace(-1, 1, channels), at::linspace(1, 3, channels)};
  ExpectSameBits(NormRelu(of.x, norm, {of.training, kMomentum, kEpsilon}, {of.negative_slope, of.shortcut}), theirs.y,
                 "y without gradients");
}

void ExpectAsLibTorch(const Case& of) { ExpectAs(LibTorchs, of); }

Case MakeCase(at::IntArrayRef sizes, at::MemoryFormat format) {
  const at::Tensor x = (at::randn(sizes) * 2 + 1).contiguous(format);
  return {x, at::randn({sizes[1]}), at::randn({sizes[1]}), {}, at::randn(sizes).contiguous(format)};
}

class NormReluTest : public testing::Test {
 protected:
  void SetUp() override {
    threads_ = at::get_num_threads();
    at::manual_seed(1);
  }
  void TearDown() override { at::set_num_threads(threads_); }

 private:
  int threads_ = 1;
};

// Two values, -1 and 1, have mean 0 and variance 1: 2 z + 0.5 + 1 is -0.5 and 3.5 (but for epsilon).
TEST_F(NormReluTest, ByHand) {
  const at::Tensor x = at::tensor({-1.0f, 1.0f}).view({1, 1, 1, 2});
  const NormTensors norm = {at::full({1}, 2.0), at::full({1}, 0.5), at::zeros({1}), at::ones({1})};
  const at::Tensor one = at::ones({1, 1, 1, 2});
  EXPECT_TRUE(at::allclose(NormRelu(x, norm, {true, 0.5, 1e-9}, {0, one}), at::tensor({0.0f, 3.5f}).view(x.sizes())));
  EXPECT_TRUE(
      at::allclose(NormRelu(x, norm, {true, 0.5, 1e-9}, {0.2, one}), at::tensor({-0.1f, 3.5f}).view(x.sizes())));
  // Twice half way from 1 to the unbiased variance 2.
  EXPECT_TRUE(at::allclose(norm.running_var, at::tensor({1.75f})));
}

TEST_F(NormReluTest, IsLibTorchsToTheBit) {
  for (const int64_t channels : {3, 8, 16, 24, 40, 64, 136}) {
    for (const int threads : {1, 2, 3}) {
      at::set_num_threads(threads);
      for (const auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::Contiguous}) {
        for (const double slope : {0.0, 0.2}) {
          for (const bool has_shortcut : {false, true}) {
            Case of = MakeCase({5, channels, 7, 6}, format);
            of.negative_slope = slope;
            if (has_shortcut) of.shortcut = at::randn_like(of.x);
            ExpectAsLibTorch(of);
            of.training = false;
            ExpectAsLibTorch(of);
          }
        }
      }
    }
  }
}

// Otherwise, the tests would compare LibTorch with itself.
TEST_F(NormReluTest, ComputesItselfWhereItCan) {
  const auto by = [](at::IntArrayRef sizes, at::MemoryFormat format, at::ScalarType type = at::kFloat) {
    const Case of = MakeCase(sizes, format);
    const int64_t channels = sizes[1];
    const NormTensors norm = {of.weight, of.bias, at::zeros({channels}), at::ones({channels})};
    return NormRelu(Leaf(of.x.to(type)), norm, {/*training=*/true, kMomentum, kEpsilon}, {}).grad_fn()->name();
  };
  const bool has_avx2 = at::get_cpu_capability() != "DEFAULT";
  EXPECT_EQ(by({4, 16, 5, 5}, at::MemoryFormat::ChannelsLast).find("NormRelu") != std::string::npos, has_avx2);
  EXPECT_EQ(by({4, 16, 5, 5}, at::MemoryFormat::ChannelsLast, at::kBFloat16).find("NormRelu") != std::string::npos,
            has_avx2);
  EXPECT_EQ(by({4, 16, 5, 5}, at::MemoryFormat::Contiguous).find("NormRelu"), std::string::npos);
  EXPECT_EQ(by({4, 12, 5, 5}, at::MemoryFormat::ChannelsLast).find("NormRelu"), std::string::npos);
}

// More rows than a tile has, and more than there are threads for.
TEST_F(NormReluTest, LargeAndSmallBatches) {
  at::set_num_threads(2);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {16, 16, 32, 32}, {3, 512, 4, 4}, {2, 8, 1, 1}, {3, 8, 1, 1}, {1, 16, 1, 2}, {1, 16, 1, 3}}) {
    Case of = MakeCase(sizes, at::MemoryFormat::ChannelsLast);
    ExpectAsLibTorch(of);
    of.shortcut = at::randn_like(of.x);
    ExpectAsLibTorch(of);
  }
}

// -0.3 times 1.0078125 (1 + 1/128, the next BF16 after 1) is -0.30234375, between the BF16s -0.302734375 and
// -0.30078125, and closer to the first.
TEST_F(NormReluTest, Bf16IsFp32RoundedOnce) {
  const bool has_avx2 = at::get_cpu_capability() != "DEFAULT";
  if (!has_avx2) GTEST_SKIP() << "LibTorch computes it on this CPU";
  const at::Tensor row = at::tensor({1.0f, 1.0078125f}).to(at::kBFloat16).view({2, 1, 1, 1}).expand({2, 8, 1, 2});
  const at::Tensor x = row.contiguous(at::MemoryFormat::ChannelsLast);
  const NormTensors norm = {at::full({8}, -0.3f), at::zeros({8}), at::zeros({8}), at::ones({8})};
  const at::Tensor y = NormRelu(x, norm, {false, kMomentum, 0}, {1.0, {}});
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(y[1][3][0][1].item<float>(), -0.302734375f);

  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{5, 8, 7, 6}, {5, 24, 7, 6}, {4, 136, 5, 5}, {16, 16, 32, 32}}) {
    for (const int threads : {1, 3}) {
      at::set_num_threads(threads);
      Case of = MakeCase(sizes, at::MemoryFormat::ChannelsLast);
      of.x = of.x.to(at::kBFloat16);
      ExpectAs(Rounded, of);
      of.negative_slope = 0.2;
      ExpectAs(Rounded, of);
      of.negative_slope = 0;
      of.shortcut = at::randn(sizes).contiguous(at::MemoryFormat::ChannelsLast).to(at::kBFloat16);
      ExpectAs(Rounded, of);
    }
  }
}

// NaN stays NaN, the largest values become infinite, and subnormal values stay.
TEST_F(NormReluTest, Bf16ValuesThatAreNotOrdinary) {
  if (at::get_cpu_capability() == "DEFAULT") GTEST_SKIP() << "LibTorch computes it on this CPU";
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const float largest = std::numeric_limits<at::BFloat16>::max(), subnormal = 1e-39f;
  const at::Tensor values = at::tensor({nan, infinity, -infinity, largest, subnormal, -subnormal, 0.0f, -0.0f});
  const at::Tensor x =
      values.view({1, 8, 1, 1}).expand({2, 8, 1, 2}).to(at::kBFloat16).contiguous(at::MemoryFormat::ChannelsLast);
  const NormTensors norm = {at::full({8}, 1.01f), at::zeros({8}), at::zeros({8}), at::ones({8})};
  const at::Tensor y = NormRelu(x, norm, {false, kMomentum, 0}, {1.0, {}}).to(at::kFloat)[1].select(1, 0).select(1, 0);
  EXPECT_TRUE(std::isnan(y[0].item<float>()));
  EXPECT_EQ(y[1].item<float>(), infinity);
  EXPECT_EQ(y[2].item<float>(), -infinity);
  EXPECT_EQ(y[3].item<float>(), infinity);
  EXPECT_EQ(y[4].item<float>(), at::BFloat16(1.01f * static_cast<float>(at::BFloat16(subnormal))));
  EXPECT_EQ(y[5].item<float>(), -y[4].item<float>());
  EXPECT_GT(y[4].item<float>(), 0);
  EXPECT_EQ(y[6].item<float>(), 0);
  EXPECT_EQ(y[7].item<float>(), 0);
}

// As after a mean over the pixels: the gradient's strides are 0.
TEST_F(NormReluTest, GradientsOfAnyLayout) {
  for (const bool has_shortcut : {false, true}) {
    Case of = MakeCase({4, 16, 5, 5}, at::MemoryFormat::ChannelsLast);
    if (has_shortcut) of.shortcut = at::randn_like(of.x);
    of.y_weight = at::Tensor();
    ExpectAsLibTorch(of);
    of.y_weight = at::randn({4, 16, 5, 5});
    ExpectAsLibTorch(of);
  }
}

// A constant channel has variance 0; its values are 0 before the bias, which may be 0 or -0.
TEST_F(NormReluTest, ValuesThatAreNotOrdinary) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const double slope : {0.0, 0.2}) {
    for (const bool has_shortcut : {false, true}) {
      Case of = MakeCase({4, 32, 5, 5}, at::MemoryFormat::ChannelsLast);
      of.negative_slope = slope;
      for (int64_t c = 0; c < 8; ++c) of.x.select(1, c).fill_(static_cast<double>(c) - 3);
      of.bias.slice(0, 0, 4).fill_(0);
      of.bias.slice(0, 4, 8).fill_(-0.0);
      of.x[0][9][1][1] = std::nanf("");
      of.x[0][10][1][1] = infinity;
      of.x[1][11][1][1] = -infinity;
      of.weight[12] = std::nanf("");
      of.weight[13] = 0;
      if (has_shortcut) {
        of.shortcut = at::randn_like(of.x);
        of.shortcut[0][14][1][1] = std::nanf("");
        of.shortcut[0][15][1][1] = -infinity;
      }
      ExpectAsLibTorch(of);
      of.training = false;
      ExpectAsLibTorch(of);
    }
  }
}

// The gradient of a tensor that needs none is not missing for the others.
TEST_F(NormReluTest, FrozenParameters) {
  const at::Tensor x = Leaf(at::randn({4, 16, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast));
  const NormTensors norm = {at::ones({16}), at::zeros({16}), at::zeros({16}), at::ones({16})};
  NormRelu(x, norm, {true, kMomentum, kEpsilon}, {}).square().sum().backward();
  EXPECT_TRUE(x.grad().defined());
  const NormTensors trained = {Leaf(at::ones({16})), Leaf(at::zeros({16})), at::zeros({16}), at::ones({16})};
  NormRelu(x.detach(), trained, {true, kMomentum, kEpsilon}, {}).square().sum().backward();
  EXPECT_TRUE(trained.weight.grad().defined());
  EXPECT_TRUE(trained.bias.grad().defined());
}

}  // namespace
}  // namespace openset
