#include "models/initialise.h"

#include <cmath>

#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

RandomStream Stream() { return RandomStream(1, "initialise_test"); }

TEST(InitialiseTest, DrawsInRowMajorOrderWhateverTheLayout) {
  RandomStream random = Stream();
  at::Tensor expected = at::empty({2, 3, 4, 5}, at::kDouble);
  for (int64_t i = 0; i < expected.numel(); ++i) expected.view(-1)[i] = random.Uniform(-0.25, 0.25);

  random = Stream();
  at::Tensor contiguous = at::empty({2, 3, 4, 5});
  DrawUniform(0.25, &random, contiguous);
  EXPECT_THAT(contiguous, TensorEq(expected.to(at::kFloat)));

  random = Stream();
  at::Tensor channels_last = at::empty({2, 3, 4, 5}, at::TensorOptions().memory_format(at::MemoryFormat::ChannelsLast));
  DrawUniform(0.25, &random, channels_last);
  EXPECT_THAT(channels_last, TensorEq(contiguous));
  EXPECT_TRUE(channels_last.is_contiguous(at::MemoryFormat::ChannelsLast));

  random = Stream();
  at::Tensor wide = at::empty({2, 3, 4, 5}, at::kDouble);
  DrawUniform(0.25, &random, wide);
  EXPECT_THAT(wide, TensorEq(expected));
}

TEST(InitialiseTest, NormalIsMeanPlusStdTimesTheStream) {
  RandomStream random = Stream();
  const at::Tensor expected = at::tensor({3 + 0.5 * random.Normal(), 3 + 0.5 * random.Normal()}, at::kDouble);
  random = Stream();
  const at::Tensor drawn = at::empty({2}, at::kDouble);
  DrawNormal(3, 0.5, &random, drawn);
  EXPECT_THAT(drawn, TensorEq(expected));
}

TEST(InitialiseTest, DefaultDrawsWeightThenBias) {
  RandomStream random = Stream();
  const at::Tensor weight = at::empty({2, 3, 2, 2}, at::kDouble);  // 3 * 2 * 2 inputs per output
  const at::Tensor bias = at::empty({2}, at::kDouble);
  DrawDefault(weight, bias, &random);

  random = Stream();
  const at::Tensor expected_weight = at::empty({2, 3, 2, 2}, at::kDouble);
  const at::Tensor expected_bias = at::empty({2}, at::kDouble);
  DrawUniform(1 / std::sqrt(12.), &random, expected_weight);
  DrawUniform(1 / std::sqrt(12.), &random, expected_bias);
  EXPECT_THAT(weight, TensorEq(expected_weight));
  EXPECT_THAT(bias, TensorEq(expected_bias));

  random = Stream();
  DrawDefault(weight, at::Tensor(), &random);
  EXPECT_THAT(weight, TensorEq(expected_weight));
}

TEST(InitialiseTest, BatchNormForgetsItsStatistics) {
  BatchNorm norm(3);
  norm.Forward(at::arange(12, at::kFloat).view({1, 3, 2, 2}));
  norm.bias.detach().fill_(5);
  RandomStream random = Stream();
  ResetBatchNorm(1, 0, &random, &norm);
  EXPECT_THAT(norm.weight, TensorEq(at::ones({3})));
  EXPECT_THAT(norm.bias, TensorEq(at::zeros({3})));
  EXPECT_THAT(norm.running_mean, TensorEq(at::zeros({3})));
  EXPECT_THAT(norm.running_var, TensorEq(at::ones({3})));
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 0);
}

TEST(InitialiseTest, ChannelsLastAlsoWithOneInputChannel) {
  Convolution convolution({1, 4, 3});
  RandomStream random = Stream();
  DrawDefault(convolution.weight, convolution.bias, &random);
  const at::Tensor before = convolution.weight.detach().clone();
  UseChannelsLast(&convolution);
  EXPECT_THAT(convolution.weight, TensorEq(before));
  // One input channel, 3x3: a row is 3, a column 1, the channel 1 and an output channel 9 elements apart.
  EXPECT_EQ(convolution.weight.strides(), at::IntArrayRef({9, 1, 3, 1}));
  EXPECT_TRUE(convolution.weight.requires_grad());
}

}  // namespace
}  // namespace openset
