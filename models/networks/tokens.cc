#include "models/networks/tokens.h"

#include <cmath>

#include "models/initialise.h"

namespace openset {

LayerNorm::LayerNorm(int64_t channels, double epsilon)
    : weight(register_parameter("weight", at::ones({channels}))),
      bias(register_parameter("bias", at::zeros({channels}))),
      epsilon_(epsilon) {}

at::Tensor LayerNorm::Forward(const at::Tensor& x) const {
  return at::layer_norm(x, {weight.size(0)}, weight, bias, epsilon_);
}

void LayerNorm::Initialise() {
  const at::NoGradGuard no_grad;
  weight.fill_(1);
  bias.zero_();
}

Dense::Dense(int64_t in, int64_t out, bool has_bias)
    : weight(register_parameter("weight", at::zeros({out, in}))),
      bias(register_parameter("bias", has_bias ? at::zeros({out}) : at::Tensor())) {}

at::Tensor Dense::Forward(const at::Tensor& x) const { return at::linear(x, weight, bias); }

void Dense::Initialise(RandomStream* random) {
  DrawNormal(0, 0.02, random, weight);
  const at::NoGradGuard no_grad;
  if (bias.defined()) bias.zero_();
}

at::Tensor Attention(const at::Tensor& qkv, int64_t heads, const at::Tensor& bias) {
  const int64_t batch = qkv.size(0), n = qkv.size(1), channels = qkv.size(2) / 3;
  const at::Tensor parts = qkv.reshape({batch, n, 3, heads, channels / heads}).permute({2, 0, 3, 1, 4});
  const at::Tensor q = parts[0] / std::sqrt(static_cast<double>(channels / heads));
  at::Tensor likeness = at::matmul(q, parts[1].transpose(2, 3));
  if (bias.defined()) likeness = likeness + bias;
  return at::matmul(likeness.softmax(3), parts[2]).transpose(1, 2).reshape({batch, n, channels});
}

}  // namespace openset
