// A device's streams and events.
#ifndef OPENSET_CORE_TENSOR_TORCH_STREAM_H_
#define OPENSET_CORE_TENSOR_TORCH_STREAM_H_

#include <c10/core/Event.h>                  // IWYU pragma: export
#include <c10/core/Stream.h>                 // IWYU pragma: export
#include <c10/core/StreamGuard.h>            // IWYU pragma: export
#include <c10/core/impl/VirtualGuardImpl.h>  // IWYU pragma: export

#include "core/tensor/torch.h"  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_STREAM_H_
