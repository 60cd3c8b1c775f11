// Tensors that are made on the host and used on a device.
#ifndef OPENSET_CORE_TENSOR_TRANSFER_STAGING_H_
#define OPENSET_CORE_TENSOR_TRANSFER_STAGING_H_

#include <cstddef>
#include <vector>

#include "core/tensor/torch.h"

namespace openset {

// A queue of tensors: first Add() all of them, then MoveTo() the device, then take each with Next(), in the order in
// which they were added. A batch needs one copy for all its indices and random numbers instead of one for each.
class Staging {
 public:
  // Precondition: a contiguous tensor on the CPU.
  void Add(at::Tensor host);

  // Copies all tensors to a GPU from one block of pinned memory. The host does not wait; later work on the device's
  // current stream sees the values. On the CPU, they stay where they are.
  void MoveTo(at::Device device);

  // Precondition: a tensor is left.
  at::Tensor Next();

 private:
  std::vector<at::Tensor> tensors_;
  size_t next_ = 0;
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TRANSFER_STAGING_H_
