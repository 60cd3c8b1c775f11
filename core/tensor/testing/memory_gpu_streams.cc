// The streams of the GPUs: which one a thread uses, who allocated a block, and copies that run later.
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "core/tensor/testing/device_memory_arena.h"
#include "core/tensor/testing/memory_gpu_state.h"

namespace openset {
namespace {

thread_local c10::StreamId current_stream[kMemoryGpus] = {};

// A block of memory that a stream other than the default one allocated.
struct Block {
  c10::StreamId stream;
  std::set<c10::StreamId> users;
};

struct DelayedCopy {
  at::Tensor to, from;
  c10::StreamId stream;
};

struct State {
  std::mutex mutex;
  c10::StreamId last_stream = 0;
  std::map<const void*, Block> blocks;

  // Apart, because freeing a tensor of a copy forgets its block.
  std::mutex copies_mutex;
  std::vector<DelayedCopy> to_device;
  std::vector<std::pair<at::Tensor, std::string>> to_host;  // and the values for it
};

State& TheState() {
  static auto* const state = new State;
  return *state;
}

// Runs the delayed copies to the device for which this is true.
template <typename Predicate>
void RunCopiesIf(const Predicate& runs) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.copies_mutex);
  if (state.to_device.empty()) return;
  const DeviceMemoryArena::Kernel kernel;
  std::vector<DelayedCopy> left;
  for (DelayedCopy& copy : state.to_device) {
    if (runs(copy)) {
      std::memcpy(copy.to.mutable_data_ptr(), copy.from.const_data_ptr(), copy.to.nbytes());
    } else {
      left.push_back(std::move(copy));
    }
  }
  state.to_device = std::move(left);
}

}  // namespace

c10::StreamId CurrentStream(c10::DeviceIndex gpu) { return current_stream[gpu]; }
void SetCurrentStream(c10::DeviceIndex gpu, c10::StreamId stream) { current_stream[gpu] = stream; }

c10::StreamId NewStream() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return ++state.last_stream;
}

void NoteBlock(const void* block) {
  const c10::StreamId stream = CurrentStream(CurrentGpu());
  if (stream == 0) return;
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.blocks[block] = {stream, {}};
}

void ForgetBlock(const void* block) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.blocks.erase(block);
}

void CheckStream(const at::Tensor& tensor, const std::string& operation) {
  if (!tensor.is_cuda()) return;
  const c10::StreamId stream = CurrentStream(tensor.device().index());
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const auto block = state.blocks.find(tensor.storage().data());
  TORCH_CHECK(block == state.blocks.end() || block->second.stream == stream || block->second.users.count(stream) > 0,
              operation, " on stream ", stream, ": stream ", block->second.stream,
              " allocated a tensor that record_stream() was not called for");
}

void RecordUse(const at::Tensor& tensor, c10::StreamId stream) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const auto block = state.blocks.find(tensor.storage().data());
  if (block != state.blocks.end()) block->second.users.insert(stream);
}

void CopyLater(at::Tensor to, at::Tensor from) {
  const c10::StreamId stream = CurrentStream(to.device().index());
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.copies_mutex);
  state.to_device.push_back({std::move(to), std::move(from), stream});
}

void RunDelayedCopies() {
  RunCopiesIf([](const DelayedCopy& copy) { return copy.stream == CurrentStream(copy.to.device().index()); });
}

void RunDelayedCopies(c10::DeviceIndex gpu, c10::StreamId stream) {
  RunCopiesIf([&](const DelayedCopy& copy) { return copy.stream == stream && copy.to.device().index() == gpu; });
}

void DeliverLater(at::Tensor host, std::string bytes) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.copies_mutex);
  state.to_host.emplace_back(std::move(host), std::move(bytes));
}

void DeliverToHost() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.copies_mutex);
  for (auto& [host, bytes] : state.to_host) std::memcpy(host.mutable_data_ptr(), bytes.data(), bytes.size());
  state.to_host.clear();
}

}  // namespace openset
