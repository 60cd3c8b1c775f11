// Max pooling and ReLU as one operation.
#ifndef OPENSET_MODELS_LAYERS_POOLED_RELU_H_
#define OPENSET_MODELS_LAYERS_POOLED_RELU_H_

#include "core/tensor/torch.h"

namespace openset {

// [B, C, H, W] -> [B, C, H / 2, W / 2]: max(0, the largest value of each 2x2 square); an odd last row or column is left
// out. Values and gradient are those of at::max_pool2d(x, 2).relu_() to the bit, NaN and -0 among them. On the CPU,
// for floats in the channels-last layout, it reads x once, and the backward pass writes its gradient once, where
// LibTorch also fills it with zeros, keeps x, and passes twice over the result. The gradient has no gradient of its
// own.
at::Tensor PooledRelu(const at::Tensor& x);

}  // namespace openset

#endif  // OPENSET_MODELS_LAYERS_POOLED_RELU_H_
