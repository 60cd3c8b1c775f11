// LibTorch's memory on devices, for the few files that manage it.
#ifndef OPENSET_CORE_TENSOR_TORCH_MEMORY_H_
#define OPENSET_CORE_TENSOR_TORCH_MEMORY_H_

#include <ATen/core/CachingHostAllocator.h>   // IWYU pragma: export
#include <c10/core/CachingDeviceAllocator.h>  // IWYU pragma: export

#include "core/tensor/torch.h"  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_MEMORY_H_
