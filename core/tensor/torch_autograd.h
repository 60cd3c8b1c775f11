// Operations that define their own gradients.
#ifndef OPENSET_CORE_TENSOR_TORCH_AUTOGRAD_H_
#define OPENSET_CORE_TENSOR_TORCH_AUTOGRAD_H_

#include <torch/csrc/autograd/custom_function.h>  // IWYU pragma: export

#include "core/tensor/torch.h"  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_AUTOGRAD_H_
