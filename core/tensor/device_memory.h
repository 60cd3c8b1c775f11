// Memory of a device that LibTorch keeps for later.
#ifndef OPENSET_CORE_TENSOR_DEVICE_MEMORY_H_
#define OPENSET_CORE_TENSOR_DEVICE_MEMORY_H_

#include "core/tensor/torch.h"

namespace openset {

// When it goes, the device gets back all memory that this process holds for tensors that are gone, so that other
// processes can take it; pinned memory too. Nothing happens on the CPU. What the device then says is only logged: it
// may be why the memory is given back.
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
