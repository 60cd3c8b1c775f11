// Lets a program that isn't linked with LibTorch's CUDA library use GPUs.
#ifndef OPENSET_CORE_TENSOR_CUDA_H_
#define OPENSET_CORE_TENSOR_CUDA_H_

#include "absl/status/status.h"

namespace openset {

// Loads LibTorch's CUDA library if this program isn't linked with it (FindCudaLibrary(),
// core/process/gpu/cuda_library.h), and checks that LibTorch then sees a GPU; once per process. Call it before anything
// else asks LibTorch for CUDA, because LibTorch remembers the answer. Errors: kNotFound if there is no CUDA library;
// kFailedPrecondition if it is of another version or can't be loaded, or if LibTorch sees no GPU.
absl::Status MakeCudaUsable();

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_CUDA_H_
