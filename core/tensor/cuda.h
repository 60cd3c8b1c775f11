// Computing on GPUs in a program that may not be linked with LibTorch's CUDA library.
#ifndef OPENSET_CORE_TENSOR_CUDA_H_
#define OPENSET_CORE_TENSOR_CUDA_H_

#include "absl/status/status.h"

namespace openset {

// Loads LibTorch's CUDA library where this program has none (FindCudaLibrary(), core/process/gpu/cuda_library.h), and
// says whether LibTorch then sees a GPU; once for the process. To be called before anything else asks LibTorch for
// CUDA: it looks for it only once. Errors: those of FindCudaLibrary() and LoadCudaLibrary(); kFailedPrecondition if it
// sees no GPU.
absl::Status MakeCudaUsable();

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_CUDA_H_
