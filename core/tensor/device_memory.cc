#include "core/tensor/device_memory.h"

#include <exception>

#include "core/tensor/torch_device.h"
// LibTorch comes first, because core/logging.h replaces its macros.
#include "core/logging.h"

namespace openset {

FreesDeviceMemory::~FreesDeviceMemory() {
  if (device_.is_cpu()) return;
  try {
    c10::DeviceAllocator* const memory = at::getDeviceAllocator(device_.type());
    if (!memory->initialized()) return;
    memory->emptyCache();
    at::getHostAllocator(device_.type())->empty_cache();
  } catch (const std::exception& error) {
    LOG(WARNING) << "the device's memory is not given back: " << error.what();
  }
}

}  // namespace openset
