#include "core/tensor/transfer/staging.h"

#include <cstdint>
#include <cstring>
#include <utility>

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

}  // namespace openset
