// The devices of this machine, and which of them this program can use: `openset devices`.
#ifndef OPENSET_TOOLS_CLI_DEVICES_DEVICE_LIST_H_
#define OPENSET_TOOLS_CLI_DEVICES_DEVICE_LIST_H_

#include <cstdint>
#include <string>

#include "tools/cli/devices/devices.h"

namespace openset {

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

#endif  // OPENSET_TOOLS_CLI_DEVICES_DEVICE_LIST_H_
