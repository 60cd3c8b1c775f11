// LibTorch's CUDA library, for programs that are not linked with it, and what it needs of the machine.
#ifndef OPENSET_CORE_PROCESS_GPU_CUDA_LIBRARY_H_
#define OPENSET_CORE_PROCESS_GPU_CUDA_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/process/gpu/gpus.h"

namespace openset {

// The LibTorch that we are built with. Its CUDA library is built for CUDA 13.
inline constexpr char kLibTorchVersion[] = "2.11.0";

// libtorch_cuda.so: of the PyTorch whose folder the environment variable OPENSET_TORCH names
// (".../site-packages/torch"); without it, the one that a build with --config=cuda has among its runfiles; else of the
// PyTorch of PythonProgram() (core/process/python.h), which is asked once. A PyTorch must be of that version. Errors,
// sentences: kNotFound if there is none; kFailedPrecondition for one of another version.
absl::StatusOr<std::string> FindCudaLibrary();

// From now on FindCudaLibrary() gives this one in the processes that this one starts: a worker does not know the
// runfiles of the program that it is of.
void TellWorkers(const std::string& cuda_library);

// The same in that folder of PyTorch.
absl::StatusOr<std::string> CudaLibraryIn(const std::string& torch_folder);

// Opens it for all libraries of this process; it stays open. To be called before anything asks LibTorch for CUDA, which
// it does once. Errors: kFailedPrecondition, with the loader's words.
absl::Status LoadCudaLibrary(const std::string& path);

// Whether the driver can run CUDA 13. Errors: kFailedPrecondition if it is too old; those of GpuDriverCuda().
absl::Status CheckGpuDriver(const std::string& library = "libcuda.so.1");

// Whether CUDA 13 has code for the GPU: from a compute capability of 7.5. Errors: kFailedPrecondition.
absl::Status CheckGpu(const Gpu& gpu);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_GPU_CUDA_LIBRARY_H_
