// For files that add or replace LibTorch operations (convolution_guard.cc, data/augment/pixels/).
#ifndef OPENSET_CORE_TENSOR_TORCH_LIBRARY_H_
#define OPENSET_CORE_TENSOR_TORCH_LIBRARY_H_

#include <ATen/core/op_registration/op_registration.h>                         // IWYU pragma: export
#include <ATen/ops/_convolution_compositeexplicitautograd_dispatch.h>          // IWYU pragma: export
#include <ATen/ops/convolution_backward_compositeexplicitautograd_dispatch.h>  // IWYU pragma: export
#include <c10/core/impl/VirtualGuardImpl.h>                                    // IWYU pragma: export
#include <torch/library.h>                                                     // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_LIBRARY_H_
