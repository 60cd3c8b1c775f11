#include "core/tensor/testing/memory_gpu.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/tensor/testing/device_memory_arena.h"
#include "core/tensor/testing/memory_gpu_state.h"

namespace openset {
namespace {

thread_local c10::DeviceIndex current_gpu = 0;

// cudaErrorIllegalAddress.
constexpr int kIllegalAddress = 700;

// A point in a stream.
struct Event {
  c10::DeviceIndex gpu;
  c10::StreamId stream;
};

struct State {
  std::mutex mutex;
  GpuWork work;
  pthread_t main = pthread_self();
  int64_t until_failure = 0;  // 0: no failure is scheduled
  GpuFailure failure = GpuFailure::kOutOfMemory;
  bool is_broken = false;
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

class Allocator : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(c10::kCUDA, current_gpu);
    if (bytes == 0) return {nullptr, nullptr, &Free, device};
    void* const block = DeviceMemoryArena::Get().Take(bytes, current_gpu);
    TORCH_CHECK_WITH(OutOfMemoryError, block != nullptr, "CUDA out of memory. Tried to allocate ", bytes, " bytes.");
    NoteBlock(block);
    return {block, block, &Free, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    const DeviceMemoryArena::Kernel kernel;
    std::memcpy(to, from, bytes);
  }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t /*pool*/) override { DeviceMemoryArena::Get().Empty(); }
  void recordStream(const c10::DataPtr& /*pointer*/, c10::Stream /*stream*/) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex /*gpu*/) override { return {}; }
  void resetAccumulatedStats(c10::DeviceIndex /*gpu*/) override {}
  void resetPeakStats(c10::DeviceIndex /*gpu*/) override {}

 private:
  static void Free(void* block) {
    if (block == nullptr) return;
    ForgetBlock(block);
    DeviceMemoryArena::Get().GiveBack(block);
  }
};

class PinnedMemory : public at::HostAllocator {
 public:
  static PinnedMemory& Get() {
    static auto* const memory = new PinnedMemory;
    return *memory;
  }

  c10::DataPtr allocate(size_t bytes) override {
    constexpr size_t kAlignment = 64;
    bytes = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    auto* const block = static_cast<char*>(std::aligned_alloc(kAlignment, bytes));
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_[block] = bytes;
    return {block, block, &Free, c10::Device(c10::kCPU)};
  }
  bool Has(const void* pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto next = blocks_.upper_bound(static_cast<const char*>(pointer));
    if (next == blocks_.begin()) return false;
    const auto block = std::prev(next);
    return pointer < block->first + block->second;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
  bool record_event(void* /*pointer*/, void* /*context*/, c10::Stream /*stream*/) override { return true; }
  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}

 private:
  static void Free(void* block) {
    PinnedMemory& memory = Get();
    const std::lock_guard<std::mutex> lock(memory.mutex_);
    memory.blocks_.erase(static_cast<const char*>(block));
    std::free(block);
  }

  std::mutex mutex_;
  std::map<const char*, size_t> blocks_;
};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {c10::kCUDA, current_gpu}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < kMemoryGpus, "CUDA error: invalid device ordinal");
    uncheckedSetDevice(device);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0) current_gpu = device.index();
  }
  c10::Stream getStream(c10::Device device) const override {
    const c10::Device gpu(c10::kCUDA, device.index() < 0 ? current_gpu : device.index());
    return c10::Stream(c10::Stream::UNSAFE, gpu, CurrentStream(gpu.index()));
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool /*is_high_priority*/) const override {
    return c10::Stream(c10::Stream::UNSAFE, device, NewStream());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    SetCurrentStream(stream.device_index(), stream.id());
    return before;
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kMemoryGpus; }
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex /*gpu*/,
              const c10::EventFlag /*flag*/) const override {
    if (*event == nullptr) *event = new Event;
    *static_cast<Event*>(*event) = {stream.device_index(), stream.id()};
  }
  // The other stream's copies are done before what follows. Those after the event too, which no test should need.
  void block(void* event, const c10::Stream& /*stream*/) const override {
    if (event == nullptr) return;
    const auto* const point = static_cast<const Event*>(event);
    RunDelayedCopies(point->gpu, point->stream);
  }
  void destroyEvent(void* event, const c10::DeviceIndex /*gpu*/) const noexcept override {
    delete static_cast<Event*>(event);
  }
  bool queryEvent(void* /*event*/) const override { return true; }
  bool queryStream(const c10::Stream& /*stream*/) const override { return true; }
  void synchronizeStream(const c10::Stream& /*stream*/) const override { WaitForGpu("synchronizeStream"); }
  void synchronizeEvent(void* /*event*/) const override { WaitForGpu("synchronizeEvent"); }
  void synchronizeDevice(const c10::DeviceIndex /*gpu*/) const override { WaitForGpu("synchronizeDevice"); }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard);

class GpuGenerator final : public c10::GeneratorImpl {
 public:
  explicit GpuGenerator(c10::DeviceIndex gpu)
      : c10::GeneratorImpl({c10::kCUDA, gpu}, c10::DispatchKeySet(c10::DispatchKey::CUDA)),
        cpu_(at::detail::createCPUGenerator()) {}

  void set_current_seed(uint64_t seed) override { cpu_.set_current_seed(seed); }
  void set_offset(uint64_t offset) override { cpu_.unsafeGetGeneratorImpl()->set_offset(offset); }
  uint64_t get_offset() const override { return cpu_.unsafeGetGeneratorImpl()->get_offset(); }
  uint64_t current_seed() const override { return cpu_.current_seed(); }
  uint64_t seed() override { return cpu_.unsafeGetGeneratorImpl()->seed(); }
  void set_state(const c10::TensorImpl& state) override { cpu_.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return cpu_.unsafeGetGeneratorImpl()->get_state(); }

  at::Generator& cpu() { return cpu_; }

 private:
  GpuGenerator* clone_impl() const override {
    auto* const copy = new GpuGenerator(device_.index());
    copy->cpu_ = cpu_.clone();
    return copy;
  }

  at::Generator cpu_;
};

class Hooks : public at::CUDAHooksInterface {
 public:
  explicit Hooks(at::CUDAHooksArgs /*arguments*/) {}

  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*gpu*/) const override { return true; }
  int getNumGPUs() const override { return kMemoryGpus; }
  c10::DeviceIndex deviceCount() const override { return kMemoryGpus; }
  c10::DeviceIndex current_device() const override { return current_gpu; }
  c10::DeviceIndex getCurrentDevice() const override { return current_gpu; }
  void setCurrentDevice(c10::DeviceIndex gpu) const override { current_gpu = gpu; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex gpu) const override { return std::exchange(current_gpu, gpu); }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex gpu) const override { return std::exchange(current_gpu, gpu); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex gpu) const override { return DefaultGpuGenerator(gpu); }
  at::Generator getNewGenerator(c10::DeviceIndex gpu) const override {
    return at::make_generator<GpuGenerator>(gpu < 0 ? current_gpu : gpu);
  }
  c10::Device getDeviceFromPtr(void* data) const override {
    return {c10::kCUDA, static_cast<c10::DeviceIndex>(DeviceMemoryArena::Get().DeviceOf(data))};
  }
  bool isPinnedPtr(const void* data) const override { return IsPinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &PinnedMemory::Get(); }
  c10::Allocator* getCUDADeviceAllocator() const override { return GpuAllocator(); }
  void deviceSynchronize(c10::DeviceIndex /*gpu*/) const override { WaitForGpu("deviceSynchronize"); }
};

[[maybe_unused]] const bool kIsRegistered = [] {
  c10::SetAllocator(c10::kCUDA, GpuAllocator());
  at::setHostAllocator(c10::kCUDA, &PinnedMemory::Get());
  return true;
}();

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

void ForgetGpuWork() {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.work = {};
  state.main = pthread_self();
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

int64_t GpuMemoryInUse() { return DeviceMemoryArena::Get().bytes_taken(); }
int64_t GpuMemoryKept() { return DeviceMemoryArena::Get().bytes_kept(); }

c10::DeviceIndex CurrentGpu() { return current_gpu; }
void SetCurrentGpu(c10::DeviceIndex gpu) { current_gpu = gpu; }

c10::DeviceAllocator* GpuAllocator() {
  static auto* const allocator = new Allocator;
  return allocator;
}

bool IsPinned(const void* pointer) { return PinnedMemory::Get().Has(pointer); }

at::Generator& CpuGeneratorOf(const at::Generator& gpu_generator) {
  return static_cast<GpuGenerator*>(gpu_generator.unsafeGetGeneratorImpl())->cpu();
}

const at::Generator& DefaultGpuGenerator(c10::DeviceIndex gpu) {
  static auto* const all = new std::vector<at::Generator>{at::make_generator<GpuGenerator>(c10::DeviceIndex{0}),
                                                          at::make_generator<GpuGenerator>(c10::DeviceIndex{1})};
  return (*all)[gpu < 0 ? current_gpu : gpu];
}

void CountOperation(const std::string& name) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  ++state.work.operations[name];
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

void CountCopy(bool to_device) {
  State& state = TheState();
  const std::lock_guard<std::mutex> lock(state.mutex);
  ++(to_device ? state.work.copies_to_device : state.work.copies_to_host);
}

void WaitForGpu(const std::string& operation) {
  State& state = TheState();
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    ++state.work.waits[ThreadNameOf(state) + ": " + operation];
  }
  RunDelayedCopies();
  DeliverToHost();
}

}  // namespace openset

namespace at {
C10_REGISTER_TYPED_CLASS(CUDAHooksRegistry, "CUDAHooks", openset::Hooks)
}  // namespace at
