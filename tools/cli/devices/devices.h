// Where trials run, as --devices, or a deployment's file, says.
#ifndef OPENSET_TOOLS_CLI_DEVICES_DEVICES_H_
#define OPENSET_TOOLS_CLI_DEVICES_DEVICES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/process/gpu/gpus.h"
#include "experiments/spec/trial.proto.h"

namespace openset {

struct Devices {
  // For experiments that leave the device open.
  ExecutionSpec::Device default_device = ExecutionSpec::CPU;
  // Ordinals of the GPUs to use, and the name that all of them have; "" without any.
  std::vector<int> cuda;
  std::string kind;
};

// What there is, each asked only where it matters.
struct GpuMachine {
  // By ordinals; kNotFound without a driver.
  std::function<absl::StatusOr<std::vector<Gpu>>()> gpus;
  // Whether LibTorch's CUDA library is found; workers are then told where.
  std::function<absl::Status()> library;
  // Whether the driver can run it.
  std::function<absl::Status()> driver;
};

// The one that this program runs on.
GpuMachine ThisGpuMachine();

// `flag` is "cpu", "auto" or "cuda:0,1". "auto" is all GPUs that CUDA has code for (CheckGpu()), or the CPU if there
// are none or LibTorch's CUDA library is missing. Errors, which don't say where the choice was written:
// kInvalidArgument for what can't be used, and for GPUs of different kinds: their numbers differ, and the kind is part
// of a trial. Those of `machine`; with "auto" those of a driver that refuses or is too old, too, if the library is
// there.
absl::StatusOr<Devices> ChooseDevices(const std::string& flag, const GpuMachine& machine);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DEVICES_DEVICES_H_
