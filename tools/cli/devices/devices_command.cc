#include "tools/cli/devices/devices_command.h"

#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/devices/devices.h"

namespace openset {
namespace {

absl::Status RunDevices(const std::vector<std::string>& /*arguments*/, const RunConfig& /*config*/) {
  std::cout << DeviceList(ThisMachine());
  return absl::OkStatus();
}

}  // namespace

Command DevicesCommand() {
  Command command;
  command.name = "devices";
  command.summary = "Lists the CPU and the GPUs, and says which of them can be used and why others can't.";
  command.description =
      "GPUs need NVIDIA's driver 580 or later, a compute capability of 7.5 or later, and LibTorch's CUDA library.\n"
      "The library is that of a PyTorch 2.11.0 for CUDA 13: python3's, or the one in the folder that the environment\n"
      "variable OPENSET_TORCH names. A program built with --config=cuda has its own.\n"
      "\n"
      "  openset devices\n"
      "  openset run quickstart --devices=cuda:0\n";
  command.run = RunDevices;
  return command;
}

}  // namespace openset
