#include "core/tensor/transfer/side_stream.h"

#include <map>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

namespace openset {
namespace {

// The one side stream of the device. LibTorch keeps freed memory for the stream that allocated it, so that a new stream
// for each pass would keep the memory of several batches for each of the pool's 32 streams.
c10::Stream StreamOf(at::Device device) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const streams = new std::map<c10::DeviceIndex, c10::Stream>;
  const c10::impl::VirtualGuardImpl gpu(device.type());
  const c10::DeviceIndex index = gpu.getStream(device).device_index();
  const absl::MutexLock lock(&mutex);
  const auto found = streams->find(index);
  if (found != streams->end()) return found->second;
  return streams->emplace(index, gpu.getStreamFromGlobalPool(device)).first->second;
}

}  // namespace

SideStream::SideStream(at::Device device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl gpu(device.type());
  stream_ = StreamOf(device);
  c10::Event so_far(device.type());
  so_far.record(gpu.getStream(device));
  so_far.block(*stream_);
}

std::optional<c10::Event> SideStream::Mark() const {
  if (!stream_.has_value()) return std::nullopt;
  std::optional<c10::Event> mark(std::in_place, stream_->device_type());
  mark->record(*stream_);
  return mark;
}

SideStreamScope::SideStreamScope(const SideStream& side) {
  if (side.stream_.has_value()) guard_.emplace(*side.stream_);
}

void UseAfter(std::optional<c10::Event>* mark, const std::vector<at::Tensor>& tensors) {
  if (!mark->has_value()) return;
  const c10::impl::VirtualGuardImpl gpu((*mark)->device_type());
  const c10::Stream current = gpu.getStream((*mark)->device());
  (*mark)->block(current);
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined()) tensor.record_stream(current);
  }
}

}  // namespace openset
