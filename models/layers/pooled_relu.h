// Multiplication of channels by factors, max pooling and ReLU as one operation.
#ifndef OPENSET_MODELS_LAYERS_POOLED_RELU_H_
#define OPENSET_MODELS_LAYERS_POOLED_RELU_H_

#include "core/tensor/torch.h"

namespace openset {

// [B, C, H, W] -> [B, C, H / 2, W / 2]: max(0, largest value of each 2x2 square); ignores an odd last row or column.
// Values and gradient are bitwise the same as at::max_pool2d(x, 2).relu_()'s, also for NaN and -0. On the CPU, for FP32
// and BF16 in the channels-last layout, the forward pass reads x once and the backward pass writes the gradient once.
// (LibTorch also fills the gradient with zeros, stores x, and passes twice over the result.) Does not support second
// derivatives. With `factor`, f32 [B, C, 1, 1] without a gradient: the same for x * factor. Of BF16, the largest
// product is taken before the products are rounded.
at::Tensor PooledRelu(const at::Tensor& x, const at::Tensor& factor = {});

}  // namespace openset

#endif  // OPENSET_MODELS_LAYERS_POOLED_RELU_H_
