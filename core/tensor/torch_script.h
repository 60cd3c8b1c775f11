// TorchScript: networks saved from Python with their code.
#ifndef OPENSET_CORE_TENSOR_TORCH_SCRIPT_H_
#define OPENSET_CORE_TENSOR_TORCH_SCRIPT_H_

#include <torch/csrc/jit/api/module.h>              // IWYU pragma: export
#include <torch/csrc/jit/runtime/graph_executor.h>  // IWYU pragma: export
#include <torch/csrc/jit/serialization/import.h>    // IWYU pragma: export

#include "core/tensor/convolution_guard.h"  // IWYU pragma: keep: what has networks links it

#endif  // OPENSET_CORE_TENSOR_TORCH_SCRIPT_H_
