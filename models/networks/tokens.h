// The layers of transformers that have parameters. The last dimension of values is the channels. Each layer computes
// the same as the torch::nn layer of the same kind and gives its tensors the same names.
#ifndef OPENSET_MODELS_NETWORKS_TOKENS_H_
#define OPENSET_MODELS_NETWORKS_TOKENS_H_

#include "core/random.h"
#include "core/tensor/torch.h"
#include "models/layers/module.h"

namespace openset {

// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension.
class LayerNorm : public Module {
 public:
  LayerNorm(int64_t channels, double epsilon);
  at::Tensor Forward(const at::Tensor& x) const;
  // Sets the weight to 1 and the bias to 0.
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
  // Draws the weight from N(0, 0.02^2) and sets the bias to 0, like timm and torchvision for transformers.
  void Initialise(RandomStream* random);

  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]; undefined without
};

// Multi-head attention: softmax(q k^T / sqrt(C / heads) + bias) v for each head, [B, N, C]. q, k and v are the thirds
// of `qkv` [B, N, 3 C]; each head uses C / heads successive channels of each. `bias` is undefined or broadcasts to [B,
// heads, N, N].
at::Tensor Attention(const at::Tensor& qkv, int64_t heads, const at::Tensor& bias = {});

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_TOKENS_H_
