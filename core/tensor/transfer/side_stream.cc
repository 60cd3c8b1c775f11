#include "core/tensor/transfer/side_stream.h"

namespace openset {

SideStream::SideStream(at::Device device) {
  if (device.is_cpu()) return;
  const c10::impl::VirtualGuardImpl gpu(device.type());
  stream_ = gpu.getStreamFromGlobalPool(device);
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
