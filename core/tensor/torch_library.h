// Replacing LibTorch's own operations on the CPU (core/tensor/convolution_guard.cc).
#ifndef OPENSET_CORE_TENSOR_TORCH_LIBRARY_H_
#define OPENSET_CORE_TENSOR_TORCH_LIBRARY_H_

#include <ATen/ops/_convolution_compositeexplicitautograd_dispatch.h>          // IWYU pragma: export
#include <ATen/ops/convolution_backward_compositeexplicitautograd_dispatch.h>  // IWYU pragma: export
#include <torch/library.h>                                                     // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_LIBRARY_H_
