#include "core/tensor/testing/device_memory_arena.h"

#include <sys/mman.h>

#include <algorithm>

#include "core/logging.h"

namespace openset {
namespace {

// Address space; memory is allocated when it is used.
constexpr size_t kRange = size_t{16} << 30;
constexpr size_t kAlignment = 512;

}  // namespace

DeviceMemoryArena& DeviceMemoryArena::Get() {
  static auto* const arena = new DeviceMemoryArena;
  return *arena;
}

DeviceMemoryArena::DeviceMemoryArena()
    : base_(static_cast<char*>(
          mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, /*offset=*/0))) {
  CHECK(base_ != MAP_FAILED) << "no room for addresses";
}

void* DeviceMemoryArena::Take(size_t bytes, int device) {
  bytes = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard<std::mutex> lock(mutex_);
  void* block = nullptr;
  if (const auto kept = kept_.find(bytes); kept != kept_.end()) {
    block = kept->second;
    kept_.erase(kept);
    bytes_kept_ -= static_cast<int64_t>(bytes);
  } else if (const auto emptied = emptied_.find(bytes); emptied != emptied_.end()) {
    block = emptied->second;
    emptied_.erase(emptied);
  } else if (next_ + bytes <= kRange) {
    block = base_ + next_;
    next_ += bytes;
  } else {
    return nullptr;
  }
  bytes_taken_ += static_cast<int64_t>(bytes);
  taken_[block] = {bytes, device};
  return block;
}

void DeviceMemoryArena::GiveBack(void* block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = taken_.find(block);
  CHECK(found != taken_.end()) << "no block of the device's memory";
  const size_t bytes = found->second.bytes;
  taken_.erase(found);
  kept_.emplace(bytes, block);
  bytes_taken_ -= static_cast<int64_t>(bytes);
  bytes_kept_ += static_cast<int64_t>(bytes);
}

void DeviceMemoryArena::Empty() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [bytes, block] : kept_) madvise(block, bytes, MADV_DONTNEED);
  emptied_.merge(kept_);
  bytes_kept_ = 0;
}

int DeviceMemoryArena::DeviceOf(const void* block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = taken_.find(block);
  return found == taken_.end() ? -1 : found->second.device;
}

int64_t DeviceMemoryArena::bytes_taken() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_taken_;
}

int64_t DeviceMemoryArena::bytes_kept() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_kept_;
}

void DeviceMemoryArena::Open(int change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool was_open = kernels_ > 0;
  kernels_ += change;
  if (was_open == (kernels_ > 0)) return;
  CHECK_EQ(mprotect(base_, kRange, kernels_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE), 0);
}

}  // namespace openset
