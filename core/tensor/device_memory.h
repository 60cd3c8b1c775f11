// Returns the device memory that LibTorch caches.
#ifndef OPENSET_CORE_TENSOR_DEVICE_MEMORY_H_
#define OPENSET_CORE_TENSOR_DEVICE_MEMORY_H_

#include "core/tensor/torch.h"

namespace openset {

// The destructor returns all cached memory of this process to the device, so that other processes can use it, and frees
// cached pinned memory. Does nothing on the CPU. Errors of the device are only logged, because a failed device may be
// the reason for the destruction.
class FreesDeviceMemory {
 public:
  explicit FreesDeviceMemory(at::Device device) : device_(device) {}
  ~FreesDeviceMemory();
  FreesDeviceMemory(const FreesDeviceMemory&) = delete;
  FreesDeviceMemory& operator=(const FreesDeviceMemory&) = delete;

 private:
  const at::Device device_;
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_DEVICE_MEMORY_H_
