#include "models/layers/layers.h"

#include "core/tensor/torch_nn.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"

namespace openset {
namespace {

// n numbers between -1 and 1 in a tensor of this shape.
at::Tensor Numbers(at::IntArrayRef shape) {
  const at::Tensor empty = at::empty(shape);
  return at::arange(empty.numel(), at::kFloat).mul_(0.7).sin_().reshape(shape);
}

// Gives both layers the same parameters, checks that their tensors have the same names, order and shapes, and that both
// compute the same outputs and gradients, in both modes.
template <typename Ours, typename Theirs>
void ExpectSame(Ours* ours, Theirs* theirs, const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  const TensorDict parameters = ours->named_parameters();
  const auto expected = theirs->named_parameters();
  ASSERT_EQ(parameters.keys(), expected.keys());
  ASSERT_EQ(ours->named_buffers().keys(), theirs->named_buffers().keys());
  for (const auto& parameter : expected) {
    ASSERT_EQ(parameters[parameter.key()].sizes(), parameter.value().sizes());
    EXPECT_TRUE(parameters[parameter.key()].requires_grad());
    parameters[parameter.key()].copy_(parameter.value().copy_(Numbers(parameter.value().sizes())));
  }
  for (const bool training : {true, false}) {
    ours->train(training);
    theirs->train(training);
    {
      const at::AutoGradMode with_gradients(true);
      const at::Tensor y = ours->Forward(x);
      const at::Tensor expected_y = theirs->forward(x);
      EXPECT_THAT(y, TensorEq(expected_y));
      y.square().sum().backward();
      expected_y.square().sum().backward();
    }
    for (const auto& parameter : expected) {
      EXPECT_THAT(parameters[parameter.key()].grad(), TensorEq(parameter.value().grad())) << parameter.key();
    }
    for (const auto& buffer : theirs->named_buffers()) {
      EXPECT_THAT(ours->named_buffers()[buffer.key()], TensorEq(buffer.value())) << buffer.key();
    }
  }
}

TEST(Layers, ConvolutionIsLibTorchs) {
  Convolution plain({3, 4, 3});
  torch::nn::Conv2dImpl their_plain(torch::nn::Conv2dOptions(3, 4, 3));
  ExpectSame(&plain, &their_plain, Numbers({2, 3, 7, 6}));
  Convolution strided({2, 5, 4, 2, 1, /*bias=*/false});
  torch::nn::Conv2dImpl their_strided(torch::nn::Conv2dOptions(2, 5, 4).stride(2).padding(1).bias(false));
  ExpectSame(&strided, &their_strided, Numbers({2, 2, 8, 8}));
}

// One channel by hand: 2 x + 1 through a norm of mean 3, variance 4, weight 5 and bias 6 is 5 (2 x + 1 - 3) / 2 + 6.
TEST(Layers, ABatchNormIsFoldedIntoTheConvolutionBeforeIt) {
  const at::NoGradGuard no_grad;
  Convolution convolution({1, 1, 1});
  convolution.weight.fill_(2);
  convolution.bias.fill_(1);
  BatchNorm norm(1);
  norm.running_mean.fill_(3);
  norm.running_var.fill_(4);
  norm.weight.fill_(5);
  norm.bias.fill_(6);
  norm.eval();
  norm.SetFolding(true);
  const at::Tensor x = Numbers({2, 1, 3, 3});
  const at::Tensor expected = 5 * (2 * x - 2) / 2 + 6;
  EXPECT_THAT(norm.ForwardAfter(convolution, x), TensorNear(expected, 1e-4));

  BatchNorm other(1);  // in training mode, with the statistics of the batch
  BatchNorm folding(1);
  folding.SetFolding(true);
  EXPECT_THAT(folding.ForwardAfter(convolution, x), TensorEq(other.Forward(convolution.Forward(x))));
  EXPECT_THAT(folding.running_var, TensorEq(other.running_var));
}

TEST(Layers, TransposedConvolutionIsLibTorchs) {
  TransposedConvolution convolution({3, 2, 4, 2, 1, /*bias=*/false});
  torch::nn::ConvTranspose2dImpl theirs(torch::nn::ConvTranspose2dOptions(3, 2, 4).stride(2).padding(1).bias(false));
  ExpectSame(&convolution, &theirs, Numbers({2, 3, 5, 5}));
}

TEST(Layers, LinearIsLibTorchs) {
  Linear linear(6, 4);
  torch::nn::LinearImpl theirs(6, 4);
  ExpectSame(&linear, &theirs, Numbers({5, 6}));
}

TEST(Layers, BatchNormIsLibTorchs) {
  BatchNorm norm(3);
  torch::nn::BatchNorm2dImpl theirs(3);
  ExpectSame(&norm, &theirs, Numbers({4, 3, 2, 5}));
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 1);
  const at::NoGradGuard no_grad;
  norm.ResetStatistics();
  theirs.reset_running_stats();
  for (const auto& buffer : theirs.named_buffers()) {
    EXPECT_THAT(norm.named_buffers()[buffer.key()], TensorEq(buffer.value())) << buffer.key();
  }
}

// torch.optim.swa_utils.update_bn() over batches of 4, 4 and 2 images, by tools/peers/make_swa_golden.py.
TEST(Layers, BatchNormCanMeasureMeansOverBatches) {
  const at::NoGradGuard no_grad;
  BatchNorm norm(2);
  const at::Tensor images = at::arange(10 * 2 * 3, at::kFloat).sin().view({10, 2, 3, 1});
  norm.Forward(images * 100);  // forgotten
  norm.ResetStatistics();
  norm.SetCumulative(true);
  for (const auto& [first, end] : {std::pair{0, 4}, {4, 8}, {8, 10}}) norm.ForwardRelu(images.slice(0, first, end));
  EXPECT_THAT(norm.running_mean, TensorNear(at::tensor({-0.22252159, 0.27789435}), 1e-7));
  EXPECT_THAT(norm.running_var, TensorNear(at::tensor({0.29224771, 0.28579608}), 1e-7));
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 3);
  norm.SetCumulative(false);  // the next batch moves them by a tenth
  norm.Forward(at::full({2, 2, 3, 1}, 1.0));
  EXPECT_THAT(norm.running_mean, TensorNear(at::tensor({-0.22252159 * 0.9 + 0.1, 0.27789435 * 0.9 + 0.1}), 1e-6));
}

TEST(Layers, BatchNormWithReluIsBothInTurn) {
  const at::NoGradGuard no_grad;
  Convolution convolution({3, 8, 1});
  convolution.weight.copy_(Numbers({8, 3, 1, 1}));
  const at::Tensor x = Numbers({4, 3, 2, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor shortcut = Numbers({4, 8, 2, 5}).cos().contiguous(at::MemoryFormat::ChannelsLast);
  BatchNorm ours(8), theirs(8);
  for (const bool training : {true, false}) {
    ours.train(training);
    theirs.train(training);
    for (const bool folding : {false, true}) {
      ours.SetFolding(folding);
      theirs.SetFolding(folding);
      const at::Tensor normed = theirs.ForwardAfter(convolution, x);
      EXPECT_THAT(ours.ForwardReluAfter(convolution, x, {0, shortcut}), TensorEq((normed + shortcut).relu()));
      const at::Tensor value = convolution.Forward(x);
      EXPECT_THAT(ours.ForwardRelu(value, {0.2, {}}), TensorEq(at::leaky_relu(theirs.Forward(value), 0.2)));
      EXPECT_THAT(ours.running_mean, TensorEq(theirs.running_mean));
      EXPECT_THAT(ours.running_var, TensorEq(theirs.running_var));
    }
  }
  EXPECT_EQ(ours.num_batches_tracked.item<int64_t>(), 4);
}

TEST(Layers, BatchNormNeedsMoreThanOneValueToTrain) {
  BatchNorm norm(3);
  EXPECT_THROW(norm.Forward(at::zeros({1, 3, 1, 1})), c10::Error);
  EXPECT_THROW(norm.ForwardRelu(at::zeros({1, 3, 1, 1})), c10::Error);
  EXPECT_NO_THROW(norm.Forward(at::zeros({1, 3, 1, 2})));
  norm.eval();
  EXPECT_NO_THROW(norm.Forward(at::zeros({1, 3, 1, 1})));
}

}  // namespace
}  // namespace openset
