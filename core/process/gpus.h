// The GPUs of this machine, as CUDA counts them, without CUDA's headers.
#ifndef OPENSET_CORE_PROCESS_GPUS_H_
#define OPENSET_CORE_PROCESS_GPUS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace openset {

// Names of the GPUs that a program of this environment sees ("NVIDIA H200"), by CUDA's ordinal: what
// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER say is obeyed. Empty if there are none. Asks the driver's library, which
// is opened at run time. Errors: kNotFound if there is no such library; kUnavailable, with CUDA's number, if the driver
// refuses.
absl::StatusOr<std::vector<std::string>> GpuNames(const std::string& library = "libcuda.so.1");

// The version of the driver, "550.54.15"; "" if the kernel has none.
std::string GpuDriverVersion();

// In the text of /proc/driver/nvidia/version.
std::string GpuDriverVersionIn(const std::string& text);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_GPUS_H_
