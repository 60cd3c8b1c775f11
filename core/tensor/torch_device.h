// LibTorch's memory on devices, for the few files that manage it.
#ifndef OPENSET_CORE_TENSOR_TORCH_DEVICE_H_
#define OPENSET_CORE_TENSOR_TORCH_DEVICE_H_

#include <ATen/CPUGeneratorImpl.h>                   // IWYU pragma: export
#include <ATen/EmptyTensor.h>                        // IWYU pragma: export
#include <ATen/core/CachingHostAllocator.h>          // IWYU pragma: export
#include <ATen/core/dispatch/Dispatcher.h>           // IWYU pragma: export
#include <ATen/core/ivalue.h>                        // IWYU pragma: export
#include <ATen/detail/CUDAHooksInterface.h>          // IWYU pragma: export
#include <ATen/ops/_local_scalar_dense.h>            // IWYU pragma: export
#include <ATen/ops/_reshape_alias_native.h>          // IWYU pragma: export
#include <ATen/ops/as_strided_native.h>              // IWYU pragma: export
#include <ATen/ops/set_native.h>                     // IWYU pragma: export
#include <ATen/ops/unfold_native.h>                  // IWYU pragma: export
#include <ATen/ops/view_native.h>                    // IWYU pragma: export
#include <c10/core/CPUAllocator.h>                   // IWYU pragma: export
#include <c10/core/CachingDeviceAllocator.h>         // IWYU pragma: export
#include <c10/core/Event.h>                          // IWYU pragma: export
#include <c10/core/Stream.h>                         // IWYU pragma: export
#include <c10/core/StreamGuard.h>                    // IWYU pragma: export
#include <c10/core/impl/DeviceGuardImplInterface.h>  // IWYU pragma: export
#include <c10/core/impl/LocalDispatchKeySet.h>       // IWYU pragma: export
#include <c10/core/impl/VirtualGuardImpl.h>          // IWYU pragma: export
#include <torch/library.h>                           // IWYU pragma: export

#include "core/tensor/torch.h"  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_DEVICE_H_
