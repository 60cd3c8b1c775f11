// Values of the host on a device, without a wait.
#ifndef OPENSET_CORE_TENSOR_TO_DEVICE_H_
#define OPENSET_CORE_TENSOR_TO_DEVICE_H_

#include "core/tensor/torch.h"

namespace openset {

// `host`, a tensor on the CPU, on `device`: for the CPU itself; for a GPU a copy out of pinned memory, for which the
// host does not wait. What runs on the device's current stream after it sees the values.
inline at::Tensor ToDevice(const at::Tensor& host, at::Device device) {
  if (device.is_cpu()) return host;
  return host.pin_memory().to(device, /*non_blocking=*/true);
}

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TO_DEVICE_H_
