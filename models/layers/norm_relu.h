// Batch norm, addition of a shortcut and ReLU as one operation.
#ifndef OPENSET_MODELS_LAYERS_NORM_RELU_H_
#define OPENSET_MODELS_LAYERS_NORM_RELU_H_

#include "core/tensor/torch.h"

namespace openset {

// The tensors of a batch norm, each [C].
struct NormTensors {
  at::Tensor weight, bias, running_mean, running_var;
};

struct NormOptions {
  bool training = false;  // uses the batch's statistics and updates the running ones
  double momentum = 0;
  double epsilon = 0;
};

// relu(v) = v if v > 0, else negative_slope * v, with v = z + shortcut. Precondition: negative_slope >= 0.
struct Relu {
  double negative_slope = 0;
  at::Tensor shortcut;  // of z's shape; undefined: 0
};

// LibTorch's batch_norm().
at::Tensor Normed(const at::Tensor& x, const NormTensors& norm, const NormOptions& options);

// relu(z + shortcut) by LibTorch's operations; may overwrite z.
at::Tensor AddAndRectify(at::Tensor z, const Relu& relu);

// x [B, C, ...] -> relu(batch_norm(x) + shortcut). In FP32, values, gradients and running statistics are bitwise those
// of LibTorch's batch_norm(), add() and relu_() or leaky_relu_(), with any number of threads, also for NaN and
// infinities.
//
// On CPUs with AVX2, for FP32 or BF16 in the channels-last layout and channels in multiples of 8, a forward pass reads
// x three times and a backward pass twice. (LibTorch's operations pass over memory about twice as often, and divide
// again for each value.) Such a backward pass does not support second derivatives. BF16 is computed in FP32: the result
// and the gradients of x and the shortcut are FP32's, each rounded once, while LibTorch rounds after each operation.
at::Tensor NormRelu(const at::Tensor& x, const NormTensors& norm, const NormOptions& options, const Relu& relu);

}  // namespace openset

#endif  // OPENSET_MODELS_LAYERS_NORM_RELU_H_
