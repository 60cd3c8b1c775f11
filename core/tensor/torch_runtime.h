// LibTorch's settings and versions, for the few files that configure it.
#ifndef OPENSET_CORE_TENSOR_TORCH_RUNTIME_H_
#define OPENSET_CORE_TENSOR_TORCH_RUNTIME_H_

#include <ATen/Parallel.h>       // IWYU pragma: export
#include <ATen/Version.h>        // IWYU pragma: export
#include <ATen/autocast_mode.h>  // IWYU pragma: export
#include <torch/version.h>       // IWYU pragma: export

#include "core/tensor/torch.h"  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_RUNTIME_H_
