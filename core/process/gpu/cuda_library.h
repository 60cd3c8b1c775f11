// Finds and loads LibTorch's CUDA library, for programs that are not linked with it, and checks what it requires of the
// machine.
#ifndef OPENSET_CORE_PROCESS_GPU_CUDA_LIBRARY_H_
#define OPENSET_CORE_PROCESS_GPU_CUDA_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/process/gpu/gpus.h"

namespace openset {

// The version of LibTorch that this program was built with. Its CUDA library is built for CUDA 13.
inline constexpr char kLibTorchVersion[] = "2.11.0";

// The path of libtorch_cuda.so, from the first of: the PyTorch in the folder that the environment variable
// OPENSET_TORCH names (".../site-packages/torch"); the runfiles of a build with --config=cuda; the PyTorch of
// PythonProgram() (core/process/python.h), which is run once. A PyTorch must have the version above. Errors, as
// sentences: kNotFound if there is none; kFailedPrecondition for another version.
absl::StatusOr<std::string> FindCudaLibrary();

// From now on, FindCudaLibrary() returns this path in the processes that this process starts, because a worker doesn't
// know the runfiles of the program that started it.
void TellWorkers(const std::string& cuda_library);

// The version of the PyTorch in this folder by its version.py, "2.11.0+cu130". Errors: kNotFound if there is no such
// file or it names none; another read error (core/files/system_calls.h).
absl::StatusOr<std::string> PyTorchVersionIn(const std::string& torch_folder);

// The path of libtorch_cuda.so in this folder of a PyTorch. Errors: kNotFound if there is none, or it can't be opened;
// kFailedPrecondition if the PyTorch is of another version, or of one that can't be read.
absl::StatusOr<std::string> CudaLibraryIn(const std::string& torch_folder);

// Loads the library into this process permanently, with symbols that all other libraries see. Call it before anything
// asks LibTorch for CUDA, because LibTorch remembers the answer. Errors: kFailedPrecondition, with the loader's
// message.
absl::Status LoadCudaLibrary(const std::string& path);

// Whether the driver can run CUDA 13. Errors: kFailedPrecondition if it is too old; kNotFound if the machine has no
// driver; kUnavailable, with CUDA's error number, if the driver fails.
absl::Status CheckGpuDriver(const std::string& library = "libcuda.so.1");

// Whether CUDA 13 supports the GPU: it needs a compute capability of at least 7.5. Errors: kFailedPrecondition.
absl::Status CheckGpu(const Gpu& gpu);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_GPU_CUDA_LIBRARY_H_
