// Copies tensors from the host to a device, without waiting.
#ifndef OPENSET_CORE_TENSOR_TRANSFER_H_
#define OPENSET_CORE_TENSOR_TRANSFER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "core/tensor/torch.h"
#include "core/tensor/torch_device.h"

namespace openset {

// ---- Tensors that are made on the host and used on a device.

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

// ---- Copies tensors from the host to a device without waiting.

// Returns `host`, a tensor on the CPU, on `device`: for the CPU, the tensor itself; for a GPU, a copy from pinned
// memory, for which the host does not wait. Later work on the device's current stream sees the values.
inline at::Tensor ToDevice(const at::Tensor& host, at::Device device) {
  if (device.is_cpu()) return host;
  return host.pin_memory().to(device, /*non_blocking=*/true);
}

// A second stream of a GPU, for a thread that makes tensors while another thread uses earlier ones. On a CPU, nothing
// here has an effect.

// Its use:
//   1. The thread that uses the tensors makes the SideStream.
//   2. The thread that makes them works within a SideStreamScope, and calls Mark() after each piece of work.
//   3. The first thread calls UseAfter() with the mark and the tensors of this piece.
// No thread of the host waits.
class SideStream {
 public:
  // All objects of a device share one stream. Its work from now on begins after all work that is on this thread's
  // current stream so far.
  explicit SideStream(at::Device device);

  // The end of the work that is on this stream so far. Precondition: in a SideStreamScope of this stream.
  std::optional<c10::Event> Mark() const;

 private:
  friend class SideStreamScope;
  std::optional<c10::Stream> stream_;  // on a GPU
};

// While it exists, the operations of this thread on the device go to the side stream.
class SideStreamScope {
 public:
  explicit SideStreamScope(const SideStream& side);

 private:
  std::optional<c10::StreamGuard> guard_;
};

// Makes this thread's current stream wait for the mark, and keeps the memory of the tensors, which were made before it,
// until this stream has finished with them. Undefined tensors are skipped.
void UseAfter(std::optional<c10::Event>* mark, const std::vector<at::Tensor>& tensors);

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TRANSFER_H_
