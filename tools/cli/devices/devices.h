// The devices on which trials run, and the list that `openset devices` prints.
#ifndef OPENSET_TOOLS_CLI_DEVICES_DEVICES_H_
#define OPENSET_TOOLS_CLI_DEVICES_DEVICES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/process/gpu/gpus.h"
#include "experiments/spec/trial.proto.h"

namespace openset {

// ---- The devices on which trials run, by --devices or a deployment's file.

struct Devices {
  // For studies that don't name a device.
  ExecutionSpec::Device default_device = ExecutionSpec::CPU;
  // Ordinals of the GPUs to use, and the name that all of them have; "" if there are none.
  std::vector<int> cuda;
  std::string kind;
};

// Asks the machine for its GPUs. Each function is called only if its result matters.
struct GpuMachine {
  // In the order of their ordinals. kNotFound without a driver.
  std::function<absl::StatusOr<std::vector<Gpu>>()> gpus;
  // Finds LibTorch's CUDA library and tells workers where it is.
  std::function<absl::Status()> library;
  // Checks that the driver can run it.
  std::function<absl::Status()> driver;
};

// Returns the functions for this machine.
GpuMachine ThisGpuMachine();

// `flag` is "cpu", "auto" or "cuda:0,1". "auto" means all GPUs that CUDA has code for (CheckGpu()), or the CPU if there
// are none or LibTorch's CUDA library is missing. Errors, which don't name the flag or file: kInvalidArgument for
// devices that can't be used, and for GPUs of different kinds, because numbers differ between kinds and the kind is
// part of a trial; any error that a function of `machine` returns. With "auto", errors of the driver count only if the
// library is there, and a missing library or driver means the CPU.
absl::StatusOr<Devices> ChooseDevices(const std::string& flag, const GpuMachine& machine);

// The names of the CPU and of each GPU that can be used, whatever its kind: "cpu", "cuda:1".
std::vector<std::string> UsableDevices(const GpuMachine& machine);

// ---- The devices of this machine, and which of them this program can use: `openset devices`.

struct DeviceFacts {
  std::string cpu;
  int64_t memory_mb = 0;
  std::string driver;  // the version of the GPU driver; "" for none
  GpuMachine gpu;
};

DeviceFacts ThisMachine();

// Returns a table of the CPU and the GPUs: name, memory, compute capability, and whether this program uses it by
// default. After it comes a line for each device that can't be used, which says why and what to do.
std::string DeviceList(const DeviceFacts& facts);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DEVICES_DEVICES_H_
