#include "core/tensor/testing/gpu_work.h"

#include <pthread.h>

#include <cstring>
#include <mutex>

#include "core/tensor/torch_device.h"

namespace openset {
namespace {

// cudaErrorIllegalAddress.
constexpr int kIllegalAddress = 700;

struct State {
  std::mutex mutex;
  GpuWork work;
  bool records = false;
  pthread_t main = pthread_self();
  int64_t until_failure = 0;  // 0: no failure is scheduled
  GpuFailure failure = GpuFailure::kOutOfMemory;
  bool is_broken = false;
  int only_gpu = -1;  // -1: all are allowed
  int64_t step = 0;
};

State& TheState() {
  static auto* const state = new State;
  return *state;
}

std::string ThreadNameOf(const State& state) {
  if (pthread_equal(pthread_self(), state.main) != 0) return "main";
  char name[32] = "";
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return std::strncmp(name, "pt_autograd", 11) == 0 ? "autograd" : "other";
}

// About how many kernels LibTorch's CUDA library starts for an operation with deterministic algorithms: these sort
// their indices first.
int64_t KernelsOf(const std::string& name) {
  static const auto* const many = new std::map<std::string, int64_t>{
      {"aten::scatter", 20},      {"aten::scatter_", 20},         {"aten::scatter_add", 20},
      {"aten::scatter_add_", 20}, {"aten::index_copy", 16},       {"aten::index_copy_", 16},
      {"aten::index_add", 16},    {"aten::index_add_", 16},       {"aten::index_put", 12},
      {"aten::index_put_", 12},   {"aten::_index_put_impl_", 12}, {"aten::embedding_dense_backward", 2}};
  const auto found = many->find(name.substr(0, name.find('.')));  // without the overload
  return found == many->end() ? 1 : found->second;
}

}  // namespace

int64_t GpuWork::Operations() const {
  int64_t sum = 0;
  for (const auto& [name, count] : operations) sum += count;
  return sum;
}

int64_t GpuWork::Waits(const std::string& thread) const {
  int64_t sum = 0;
  for (const auto& [name, count] : waits) {
    if (name.rfind(thread + ": ", 0) == 0) sum += count;
  }
  return sum;
}

GpuWork GpuWorkSoFar() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.work;
}

void ForgetGpuWork(bool record_sequence) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.work = {};
  state.records = record_sequence;
  state.main = pthread_self();
}

void BeginGpuStep() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  ++state.step;
}

int64_t GpuStepOfThread() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return ThreadNameOf(state) == "other" ? -1 : state.step;
}

void FailGpuOperation(int64_t n, GpuFailure failure) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.until_failure = n;
  state.failure = failure;
}

void RepairGpu() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.until_failure = 0;
  state.is_broken = false;
}

void AllowOnlyGpu(int gpu) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.only_gpu = gpu;
}

void CheckContext(int gpu) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  TORCH_CHECK(state.only_gpu < 0 || gpu == state.only_gpu, "a context on GPU ", gpu, ", but only GPU ", state.only_gpu,
              " is in use");
}

void CountOperation(const std::string& name) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.work.operations[name] += KernelsOf(name);
  const bool fails = state.until_failure > 0 && --state.until_failure == 0;
  TORCH_CHECK_WITH(OutOfMemoryError, !fails || state.failure != GpuFailure::kOutOfMemory,
                   "CUDA out of memory. Tried to allocate 2.00 GiB.");
  state.is_broken |= fails;
  if (state.is_broken) {
    throw c10::AcceleratorError({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, kIllegalAddress,
                                "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be "
                                "asynchronously reported at some other API call.");
  }
}

bool IsRecording() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.records;
}

void Record(const std::string& line) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  if (state.records) state.work.sequence[ThreadNameOf(state) == "other" ? "other" : "main"].push_back(line);
}

void CountCopy(bool to_device) {
  Record(to_device ? "copy to the device" : "copy to the host");
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  ++(to_device ? state.work.copies_to_device : state.work.copies_to_host);
}

void CountWait(const std::string& operation) {
  Record("wait: " + operation);
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  ++state.work.waits[ThreadNameOf(state) + ": " + operation];
}

}  // namespace openset
