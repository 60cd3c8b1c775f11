// Tensors. With the other core/torch_*.h the only files that include LibTorch.
#ifndef OPENSET_CORE_TENSOR_TORCH_H_
#define OPENSET_CORE_TENSOR_TORCH_H_

// What <ATen/ATen.h> has that we use, at two thirds of its compile time.
#include <ATen/Context.h>          // IWYU pragma: export
#include <ATen/Functions.h>        // IWYU pragma: export
#include <ATen/TensorOperators.h>  // IWYU pragma: export
#include <ATen/core/Tensor.h>      // IWYU pragma: export
#include <c10/core/GradMode.h>     // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_H_
