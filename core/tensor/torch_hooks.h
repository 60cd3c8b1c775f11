// LibTorch's interface to its CUDA library, which may be missing.
#ifndef OPENSET_CORE_TENSOR_TORCH_HOOKS_H_
#define OPENSET_CORE_TENSOR_TORCH_HOOKS_H_

#include <ATen/detail/CUDAHooksInterface.h>  // IWYU pragma: export

#include "core/tensor/torch.h"  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_HOOKS_H_
