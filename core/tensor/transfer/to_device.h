// Copies tensors from the host to a device without waiting.
#ifndef OPENSET_CORE_TENSOR_TRANSFER_TO_DEVICE_H_
#define OPENSET_CORE_TENSOR_TRANSFER_TO_DEVICE_H_

#include "core/tensor/torch.h"

namespace openset {

// Returns `host`, a tensor on the CPU, on `device`: for the CPU, the tensor itself; for a GPU, a copy from pinned
// memory, for which the host does not wait. Later work on the device's current stream sees the values.
inline at::Tensor ToDevice(const at::Tensor& host, at::Device device) {
  if (device.is_cpu()) return host;
  return host.pin_memory().to(device, /*non_blocking=*/true);
}

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TRANSFER_TO_DEVICE_H_
