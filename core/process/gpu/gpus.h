// The GPUs of this machine, as CUDA numbers them, without CUDA's headers.
#ifndef OPENSET_CORE_PROCESS_GPU_GPUS_H_
#define OPENSET_CORE_PROCESS_GPU_GPUS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace openset {

struct Gpu {
  std::string name;          // "NVIDIA H200"
  int64_t memory_bytes = 0;  // total
  // Its compute capability, for example 9.0.
  int compute_major = 0, compute_minor = 0;
};

// The GPUs that a program with this environment sees, by CUDA's ordinal, given CUDA_VISIBLE_DEVICES and
// CUDA_DEVICE_ORDER. Empty if there are none. Queries the driver's library, which is loaded at run time. Errors:
// kNotFound if there is no such library; kUnavailable, with CUDA's error number, if the driver fails.
absl::StatusOr<std::vector<Gpu>> ListGpus(const std::string& library = "libcuda.so.1");

// Their names. Errors: as ListGpus.
absl::StatusOr<std::vector<std::string>> GpuNames(const std::string& library = "libcuda.so.1");

// The newest CUDA that the driver can run, 1000 times its major version and 10 times its minor: 13000 for 13.0. Errors:
// as ListGpus.
absl::StatusOr<int> GpuDriverCuda(const std::string& library = "libcuda.so.1");

// The ids of the processes that compute on the GPU with this CUDA ordinal. They are the machine's ids, which mean
// nothing in a container that has its own process ids (HasMachinePids(), core/machine/machine.h). Queries the driver's
// library for the GPU, and NVML for its processes. Errors: kNotFound if there is no such library; kUnavailable, with
// the library's error number, if it fails.
absl::StatusOr<std::vector<pid_t>> GpuProcesses(int gpu, const std::string& library = "libcuda.so.1",
                                                const std::string& management = "libnvidia-ml.so.1");

// The version of the driver, "550.54.15"; "" if the kernel has none.
std::string GpuDriverVersion();

// The same from the text of /proc/driver/nvidia/version.
std::string GpuDriverVersionIn(const std::string& text);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_GPU_GPUS_H_
