// The layers of transformers that have parameters, for values whose last dimension is that of the channels. Each
// computes what the layer of torch::nn of the same kind computes, and gives its tensors the same names.
#ifndef OPENSET_MODELS_TRANSFORMERS_TOKENS_H_
#define OPENSET_MODELS_TRANSFORMERS_TOKENS_H_

#include <cstdint>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "models/layers/module.h"

namespace openset {

// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension.
class LayerNorm : public Module {
 public:
  LayerNorm(int64_t channels, double epsilon);
  at::Tensor Forward(const at::Tensor& x) const;
  // 1 and 0.
  void Initialise();

  at::Tensor weight, bias;  // [C]

 private:
  const double epsilon_;
};

// x weight^T + bias: [..., in] -> [..., out].
class Dense : public Module {
 public:
  Dense(int64_t in, int64_t out, bool has_bias = true);
  at::Tensor Forward(const at::Tensor& x) const;
  // Weight from N(0, 0.02^2), bias 0, as timm and torchvision draw those of transformers.
  void Initialise(RandomStream* random);

  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]; undefined without
};

// softmax(q k^T / sqrt(C / heads) + bias) v of each head: q, k and v are the thirds of `qkv` [B, N, 3 C], of which each
// head has the part of its number; `bias` is undefined or broadcasts to [B, heads, N, N]. [B, N, C].
at::Tensor Attention(const at::Tensor& qkv, int64_t heads, const at::Tensor& bias = {});

}  // namespace openset

#endif  // OPENSET_MODELS_TRANSFORMERS_TOKENS_H_
