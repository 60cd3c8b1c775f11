#include "models/layers/layers.h"

#include "core/tensor/convolution_guard.h"  // IWYU pragma: keep: all networks must link it

namespace openset {
namespace {

constexpr double kMomentum = 0.1;
constexpr double kEpsilon = 1e-5;

}  // namespace

Convolution::Convolution(const ConvolutionShape& shape)
    : weight(register_parameter("weight", at::zeros({shape.out, shape.in, shape.kernel, shape.kernel}))),
      bias(register_parameter("bias", shape.bias ? at::zeros({shape.out}) : at::Tensor())),
      shape_(shape) {}

at::Tensor Convolution::ForwardWith(const at::Tensor& other_weight, const at::Tensor& other_bias,
                                    const at::Tensor& x) const {
  return at::conv2d(x, other_weight, other_bias, {shape_.stride, shape_.stride}, {shape_.padding, shape_.padding});
}

TransposedConvolution::TransposedConvolution(const ConvolutionShape& shape)
    : weight(register_parameter("weight", at::zeros({shape.in, shape.out, shape.kernel, shape.kernel}))),
      bias(register_parameter("bias", shape.bias ? at::zeros({shape.out}) : at::Tensor())),
      shape_(shape) {}

at::Tensor TransposedConvolution::Forward(const at::Tensor& x) const {
  return at::conv_transpose2d(x, weight, bias, {shape_.stride, shape_.stride}, {shape_.padding, shape_.padding});
}

BatchNorm::BatchNorm(int64_t channels)
    : weight(register_parameter("weight", at::ones({channels}))),
      bias(register_parameter("bias", at::zeros({channels}))),
      running_mean(register_buffer("running_mean", at::zeros({channels}))),
      running_var(register_buffer("running_var", at::ones({channels}))),
      num_batches_tracked(register_buffer("num_batches_tracked", at::zeros({}, at::kLong))) {}

NormTensors BatchNorm::Tensors() const { return {weight, bias, running_mean, running_var}; }

NormOptions BatchNorm::Options() const {
  const double momentum = is_cumulative_ ? 1.0 / num_batches_tracked.item<double>() : kMomentum;
  return {is_training(), momentum, kEpsilon};
}

void BatchNorm::CountBatch(const at::Tensor& x) {
  if (!is_training()) return;
  TORCH_CHECK(x.numel() != x.size(1), "expected more than 1 value per channel when training, got input size ",
              x.sizes());
  num_batches_tracked += 1;
}

at::Tensor BatchNorm::Forward(const at::Tensor& x) {
  CountBatch(x);
  return Normed(x, Tensors(), Options());
}

at::Tensor BatchNorm::ForwardRelu(const at::Tensor& x, const Relu& relu) {
  CountBatch(x);
  return NormRelu(x, Tensors(), Options(), relu);
}

at::Tensor BatchNorm::ForwardAfter(const Convolution& convolution, const at::Tensor& x) {
  return Folds() ? Folded(convolution, x) : Forward(convolution.Forward(x));
}

at::Tensor BatchNorm::ForwardReluAfter(const Convolution& convolution, const at::Tensor& x, const Relu& relu) {
  return Folds() ? AddAndRectify(Folded(convolution, x), relu) : ForwardRelu(convolution.Forward(x), relu);
}

at::Tensor BatchNorm::Folded(const Convolution& convolution, const at::Tensor& x) const {
  // Computed in each call, because several threads may call it. There are few weights compared with the values of a
  // batch.
  const at::Tensor scale = weight * (running_var + kEpsilon).rsqrt();
  const at::Tensor mean = convolution.bias.defined() ? running_mean - convolution.bias : running_mean;
  return convolution.ForwardWith(convolution.weight * scale.view({-1, 1, 1, 1}), bias - mean * scale, x);
}

void BatchNorm::ResetStatistics() {
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

Linear::Linear(int64_t in, int64_t out)
    : weight(register_parameter("weight", at::zeros({out, in}))), bias(register_parameter("bias", at::zeros({out}))) {}

void SetFolding(const Module& module, bool on) {
  for (const auto& [path, part] : module.named_modules()) {
    if (auto* const norm = dynamic_cast<BatchNorm*>(part)) norm->SetFolding(on);
  }
}

at::Tensor Linear::Forward(const at::Tensor& x) const { return at::addmm(bias, x, weight.t()); }

}  // namespace openset
