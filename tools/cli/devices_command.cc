#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "tools/cli/commands.h"
#include "tools/cli/devices/devices.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/run/device_check.h"

namespace openset {
namespace {

absl::StatusOr<std::vector<std::string>> DevicesToCheck(const GpuMachine& machine, const RunConfig& config) {
  if (!config.devices.has_value()) return UsableDevices(machine);
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, FindDevices(config));
  std::vector<std::string> names;
  for (const int gpu : devices.cuda) names.push_back(absl::StrCat("cuda:", gpu));
  return names.empty() ? std::vector<std::string>{"cpu"} : names;
}

absl::Status RunDevices(const std::vector<std::string>& /*arguments*/, const RunConfig& config) {
  if (!config.check) {
    for (const char* name : {"devices", "worker"}) {
      if (config.given.count(name) == 0) continue;
      return absl::InvalidArgumentError(absl::StrCat("--", name, ": only with --check"));
    }
  }
  const DeviceFacts facts = ThisMachine();
  std::cout << DeviceList(facts) << std::flush;
  if (!config.check) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, DevicesToCheck(facts.gpu, config));
  size_t actions = 0, problems = 0;
  for (const std::string& name : names) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<CheckedKind> checked, CheckDevice(name, config));
    std::cout << "\n" << DeviceCheckText(name, checked) << std::flush;
    for (const CheckedKind& kind : checked) {
      actions += kind.actions;
      problems += kind.problems.size();
    }
  }
  if (problems == 0) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat(problems, " of ", actions, " actions failed, or gave other bytes the second time"));
}

}  // namespace

Command DevicesCommand() {
  Command command;
  command.name = "devices";
  command.summary = "Lists the CPU and the GPUs, and says which of them can be used and why others can't.";
  command.description =
      "GPUs need NVIDIA's driver 580 or later, a compute capability of 7.5 or later, and LibTorch's CUDA library.\n"
      "The library comes with PyTorch 2.11.0 for CUDA 13: python3's, or the one in the folder that the environment\n"
      "variable OPENSET_TORCH names. A program built with --config=cuda has its own.\n"
      "\n"
      "--check also tries the devices that can be used, or those of --devices, in each precision that they compute: "
      "it\n"
      "trains networks for two steps on made-up images, infers, evaluates and chooses, twice, and compares the bytes\n"
      "of the results. Exit code: 0 if all are the same, 1 if an action failed or gave other bytes, 2 if a device "
      "that\n"
      "you named can't be used.\n"
      "\n"
      "  openset devices\n"
      "  openset devices --check\n"
      "  openset devices --check --devices=cuda:0\n"
      "  openset run quickstart --devices=cuda:0\n";
  command.flags = {"check", "devices", "worker"};
  command.run = RunDevices;
  return command;
}

}  // namespace openset
