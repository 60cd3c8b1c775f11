// Classifies LibTorch's exceptions.
#ifndef OPENSET_CORE_TENSOR_TORCH_ERROR_H_
#define OPENSET_CORE_TENSOR_TORCH_ERROR_H_

#include <exception>

#include "absl/status/status.h"

namespace openset {

// kResourceExhausted: memory has run out, of a device (CUDA's error 2, or one of its libraries says ALLOC_FAILED), of
// pinned memory, or of the CPU. kUnavailable: any other error of a device or of cuBLAS, and those errors of cuDNN that
// say that it no longer works; a process that has seen one can't use its device again. kInternal: the rest.
// An exception from a script has lost its type, so its text decides.
absl::StatusCode CodeOfTorchError(const std::exception& error);

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TORCH_ERROR_H_
