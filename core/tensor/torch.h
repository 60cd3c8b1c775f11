// Tensors. Only this file and the other torch_*.h in this folder include LibTorch.
#ifndef OPENSET_CORE_TENSOR_TORCH_H_
#define OPENSET_CORE_TENSOR_TORCH_H_

// The parts of <ATen/ATen.h> that we use, which compile in two thirds of its time.
#include <ATen/Context.h>          // IWYU pragma: export
#include <ATen/Functions.h>        // IWYU pragma: export
#include <ATen/TensorOperators.h>  // IWYU pragma: export
#include <ATen/core/Tensor.h>      // IWYU pragma: export
#include <c10/core/GradMode.h>     // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_H_
