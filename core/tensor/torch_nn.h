// Modules of networks. Separate from core/tensor/torch.h because it takes longer to compile.
#ifndef OPENSET_CORE_TENSOR_TORCH_NN_H_
#define OPENSET_CORE_TENSOR_TORCH_NN_H_

#include <torch/nn/module.h>             // IWYU pragma: export
#include <torch/nn/modules/batchnorm.h>  // IWYU pragma: export
#include <torch/nn/modules/conv.h>       // IWYU pragma: export
#include <torch/nn/modules/dropout.h>    // IWYU pragma: export
#include <torch/nn/modules/linear.h>     // IWYU pragma: export
#include <torch/nn/modules/pooling.h>    // IWYU pragma: export

#include "core/tensor/convolution_guard.h"  // IWYU pragma: keep: what has networks links it

#endif  // OPENSET_CORE_TENSOR_TORCH_NN_H_
