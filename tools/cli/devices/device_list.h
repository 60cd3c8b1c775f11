// What there is to compute on, and what this program can use of it: `openset devices`.
#ifndef OPENSET_TOOLS_CLI_DEVICES_DEVICE_LIST_H_
#define OPENSET_TOOLS_CLI_DEVICES_DEVICE_LIST_H_

#include <cstdint>
#include <string>

#include "tools/cli/devices/devices.h"

namespace openset {

struct DeviceFacts {
  std::string cpu;
  int64_t memory_mb = 0;
  std::string driver;  // its version; "" for none
  GpuMachine gpu;
};

DeviceFacts ThisMachine();

// A table of the CPU and the GPUs: name, memory, compute capability and whether this program uses it by default. Below
// it, what it can't use and why, a line each, and what to do.
std::string DeviceList(const DeviceFacts& facts);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DEVICES_DEVICE_LIST_H_
