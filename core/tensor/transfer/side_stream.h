// A second stream of a GPU, for a thread that makes tensors while another thread uses earlier ones. On a CPU, nothing
// here has an effect.
#ifndef OPENSET_CORE_TENSOR_TRANSFER_SIDE_STREAM_H_
#define OPENSET_CORE_TENSOR_TRANSFER_SIDE_STREAM_H_

#include <optional>
#include <vector>

#include "core/tensor/torch.h"
#include "core/tensor/torch_stream.h"

namespace openset {

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

#endif  // OPENSET_CORE_TENSOR_TRANSFER_SIDE_STREAM_H_
