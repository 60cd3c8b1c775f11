// Where trials run, as --devices, or a deployment's file, says.
#ifndef OPENSET_TOOLS_CLI_DEVICES_H_
#define OPENSET_TOOLS_CLI_DEVICES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/trial.proto.h"

namespace openset {

struct Devices {
  // For experiments that leave the device open.
  ExecutionSpec::Device default_device = ExecutionSpec::CPU;
  // Ordinals of the GPUs to use, and the name that all of them have; "" without any.
  std::vector<int> cuda;
  std::string kind;
};

// `flag` is "cpu", "auto" (all GPUs, or the CPU if there are none or the program was built without CUDA), or
// "cuda:0,1". `gpu_names` gives the GPUs' names by their ordinals, kNotFound without a driver; it is asked only where
// they matter. Errors, which don't say where the choice was written: kInvalidArgument for what can't be used, and for
// GPUs of different kinds: their numbers differ, and the kind is part of a trial. Those of `gpu_names`, but kNotFound.
absl::StatusOr<Devices> ChooseDevices(const std::string& flag, bool built_with_cuda,
                                      const std::function<absl::StatusOr<std::vector<std::string>>()>& gpu_names);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DEVICES_H_
