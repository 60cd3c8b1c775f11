#include "core/tensor/transfer.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

// Its CHECK replaces LibTorch's.
#include "core/logging.h"

namespace openset {
namespace {

// The alignment of each tensor in the block, in bytes, as in LibTorch's allocators.
constexpr int64_t kAlignment = 64;

// The bytes that a tensor occupies in the block.
int64_t RoomOf(const at::Tensor& tensor) {
  return (static_cast<int64_t>(tensor.nbytes()) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void Staging::Add(at::Tensor host) {
  CHECK(host.is_cpu() && host.is_contiguous()) << "a contiguous tensor on the CPU";
  tensors_.push_back(std::move(host));
}

void Staging::MoveTo(at::Device device) {
  if (device.is_cpu() || tensors_.empty()) return;
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors_) bytes += RoomOf(tensor);
  const at::Tensor pinned = at::empty({bytes}, at::TensorOptions(at::kByte).pinned_memory(true));
  auto* to = pinned.mutable_data_ptr<uint8_t>();
  for (const at::Tensor& tensor : tensors_) {
    if (tensor.nbytes() > 0) std::memcpy(to, tensor.const_data_ptr(), tensor.nbytes());
    to += RoomOf(tensor);
  }
  const at::Tensor block = pinned.to(device, /*non_blocking=*/true);
  int64_t begin = 0;
  for (at::Tensor& tensor : tensors_) {
    const int64_t room = RoomOf(tensor);
    const at::Tensor bytes_of = block.narrow(0, begin, static_cast<int64_t>(tensor.nbytes()));
    tensor = bytes_of.view(tensor.scalar_type()).view(tensor.sizes());
    begin += room;
  }
}

at::Tensor Staging::Next() {
  CHECK_LT(next_, tensors_.size()) << "a tensor that was not added";
  return std::move(tensors_[next_++]);
}

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
