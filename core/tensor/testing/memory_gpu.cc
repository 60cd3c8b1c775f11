#include "core/tensor/testing/memory_gpu.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/logging.h"

namespace openset {
namespace {

constexpr c10::DeviceIndex kMemoryGpus = 2;

// Address space; memory is allocated when it is used.
constexpr size_t kRange = size_t{16} << 30;
constexpr size_t kAlignment = 512;

// Blocks in a range of addresses that can't be read or written unless a kernel runs, so that code which uses a device
// pointer on the host crashes at that line. Freed blocks are cached and reused, as in LibTorch's allocator, until
// Empty(). Thread-safe.
class DeviceMemoryArena {
 public:
  static DeviceMemoryArena& Get();

  // Null if there is no room.
  void* Take(size_t bytes, int device);
  void GiveBack(void* block);
  void Empty();

  // The device of a taken block; -1 for any other address.
  int DeviceOf(const void* block);
  // Where a taken block begins, if it is older than the calling thread's step and a step made it; -1 otherwise.
  int64_t PlaceOfOlder(const void* block);
  // Bytes in taken blocks, and in freed blocks that are cached.
  int64_t bytes_taken();
  int64_t bytes_kept();

  // The memory is accessible as long as a Kernel exists.
  class Kernel {
   public:
    Kernel() { Get().Open(1); }
    ~Kernel() { Get().Open(-1); }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
  };

 private:
  struct Block {
    size_t bytes;
    int device;
    int64_t step;  // GpuStepOfThread() when it was taken
  };

  DeviceMemoryArena();
  void Open(int change);

  std::mutex mutex_;
  char* const base_;
  size_t next_ = 0;  // offset of the memory that was never taken
  int kernels_ = 0;
  int64_t bytes_taken_ = 0, bytes_kept_ = 0;
  std::unordered_map<const void*, Block> taken_;
  std::multimap<size_t, void*> kept_, emptied_;  // by size
};

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
  taken_[block] = {bytes, device, GpuStepOfThread()};
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

int64_t DeviceMemoryArena::PlaceOfOlder(const void* block) {
  const int64_t now = GpuStepOfThread();
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = taken_.find(block);
  if (found == taken_.end() || found->second.step < 0 || found->second.step >= now) return -1;
  return static_cast<const char*>(block) - base_;
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

thread_local c10::DeviceIndex current_gpu = 0;

// During its lifetime, `gpu` is the current GPU. -1 leaves the current one unchanged.
class OnGpu {
 public:
  explicit OnGpu(c10::DeviceIndex gpu) : before_(current_gpu) {
    if (gpu >= 0) current_gpu = gpu;
  }
  ~OnGpu() { current_gpu = before_; }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

 private:
  const c10::DeviceIndex before_;
};

// The streams of the GPUs: which one a thread uses, who allocated a block, and copies that run later.

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

struct MemoryGpuStreamsState {
  std::mutex mutex;
  c10::StreamId last_stream = 0;
  std::map<const void*, Block> blocks;

  // Apart, because freeing a tensor of a copy forgets its block.
  std::mutex copies_mutex;
  std::vector<DelayedCopy> to_device;
  std::vector<std::pair<at::Tensor, std::string>> to_host;  // and the values for it
};

MemoryGpuStreamsState& TheStreams() {
  static auto* const state = new MemoryGpuStreamsState;
  return *state;
}

// Runs the delayed copies to the device for which this is true.
template <typename Predicate>
void RunCopiesIf(const Predicate& runs) {
  MemoryGpuStreamsState& state = TheStreams();
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

c10::StreamId NewStream() {
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return ++state.last_stream;
}

// Records that this thread's stream allocated a block of the current GPU's memory, and that it was freed.
void NoteBlock(const void* block) {
  const c10::StreamId stream = current_stream[current_gpu];
  if (stream == 0) return;
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.blocks[block] = {stream, {}};
}

void ForgetBlock(const void* block) {
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.blocks.erase(block);
}

// Throws if another stream has allocated the tensor and record_stream() was not called for this one.
void CheckStream(const at::Tensor& tensor, const std::string& operation) {
  if (!tensor.is_cuda()) return;
  const c10::StreamId stream = current_stream[tensor.device().index()];
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const auto block = state.blocks.find(tensor.storage().data());
  TORCH_CHECK(block == state.blocks.end() || block->second.stream == stream || block->second.users.count(stream) > 0,
              operation, " on stream ", stream, ": stream ", block->second.stream,
              " allocated a tensor that record_stream() was not called for");
}

void RecordUse(const at::Tensor& tensor, c10::StreamId stream) {
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const auto block = state.blocks.find(tensor.storage().data());
  if (block != state.blocks.end()) block->second.users.insert(stream);
}

// Asynchronous copies between tensors of one type, size and layout, without gaps. `bytes` go to the host's memory when
// it waits; the copy to the device runs before the next operation on this thread's stream.
void CopyLater(at::Tensor to, at::Tensor from) {
  const c10::StreamId stream = current_stream[to.device().index()];
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.copies_mutex);
  state.to_device.push_back({std::move(to), std::move(from), stream});
}

void RunDelayedCopies() {
  RunCopiesIf([](const DelayedCopy& copy) { return copy.stream == current_stream[copy.to.device().index()]; });
}

void RunDelayedCopies(c10::DeviceIndex gpu, c10::StreamId stream) {
  RunCopiesIf([&](const DelayedCopy& copy) { return copy.stream == stream && copy.to.device().index() == gpu; });
}

void DeliverLater(at::Tensor host, std::string bytes) {
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.copies_mutex);
  state.to_host.emplace_back(std::move(host), std::move(bytes));
}

void DeliverToHost() {
  MemoryGpuStreamsState& state = TheStreams();
  const std::lock_guard<std::mutex> lock(state.copies_mutex);
  for (auto& [host, bytes] : state.to_host) std::memcpy(host.mutable_data_ptr(), bytes.data(), bytes.size());
  state.to_host.clear();
}

// Counts a wait of the host, and completes asynchronous copies.
void WaitForGpu(const std::string& operation) {
  CountWait(operation);
  RunDelayedCopies();
  DeliverToHost();
}

class Allocator : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device device(c10::kCUDA, current_gpu);
    if (bytes == 0) return {nullptr, nullptr, &Free, device};
    CheckContext(current_gpu);
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

c10::DeviceAllocator* GpuAllocator() {
  static auto* const allocator = new Allocator;
  return allocator;
}

class PinnedMemory : public at::HostAllocator {
 public:
  static PinnedMemory& Get() {
    static auto* const memory = new PinnedMemory;
    return *memory;
  }

  c10::DataPtr allocate(size_t bytes) override {
    CheckContext(current_gpu);
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

bool IsPinned(const void* pointer) { return PinnedMemory::Get().Has(pointer); }

// A point in a stream.
struct Event {
  c10::DeviceIndex gpu;
  c10::StreamId stream;
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
    return c10::Stream(c10::Stream::UNSAFE, gpu, current_stream[gpu.index()]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool /*is_high_priority*/) const override {
    return c10::Stream(c10::Stream::UNSAFE, device, NewStream());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    current_stream[stream.device_index()] = stream.id();
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

// The CPU generator from which a GPU generator draws.
at::Generator& CpuGeneratorOf(const at::Generator& gpu_generator) {
  return static_cast<GpuGenerator*>(gpu_generator.unsafeGetGeneratorImpl())->cpu();
}

const at::Generator& DefaultGpuGenerator(c10::DeviceIndex gpu) {
  static auto* const all = new std::vector<at::Generator>{at::make_generator<GpuGenerator>(c10::DeviceIndex{0}),
                                                          at::make_generator<GpuGenerator>(c10::DeviceIndex{1})};
  return (*all)[gpu < 0 ? current_gpu : gpu];
}

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
}  // namespace openset

namespace at {

C10_REGISTER_TYPED_CLASS(CUDAHooksRegistry, "CUDAHooks", openset::Hooks)

}  // namespace at

namespace openset {
namespace {

// CUDA's operations on these devices.

using Stack = torch::jit::Stack;

// The size of their results depends on values, so that the host waits for CUDA.
const std::set<std::string>& OperationsThatWait() {
  static const auto* const names = new std::set<std::string>{"aten::_unique",
                                                             "aten::_unique2",
                                                             "aten::bincount",
                                                             "aten::equal",
                                                             "aten::masked_select",
                                                             "aten::nonzero",
                                                             "aten::nonzero.out",
                                                             "aten::repeat_interleave.Tensor",
                                                             "aten::unique_consecutive",
                                                             "aten::unique_dim"};
  return *names;
}

// CUDA has no deterministic form of them: at::globalContext().alertNotDeterministic() in its kernels.
const std::set<std::string>& NondeterministicOperations() {
  static const auto* const names = new std::set<std::string>{"aten::adaptive_avg_pool2d_backward",
                                                             "aten::_adaptive_avg_pool2d_backward",
                                                             "aten::adaptive_max_pool2d_backward",
                                                             "aten::avg_pool3d_backward",
                                                             "aten::grid_sampler_2d_backward",
                                                             "aten::grid_sampler_3d_backward",
                                                             "aten::histc",
                                                             "aten::kthvalue",
                                                             "aten::max_pool3d_with_indices_backward",
                                                             "aten::median.dim",
                                                             "aten::nll_loss2d_forward",
                                                             "aten::put_",
                                                             "aten::reflection_pad1d_backward",
                                                             "aten::reflection_pad2d_backward",
                                                             "aten::replication_pad1d_backward",
                                                             "aten::replication_pad2d_backward",
                                                             "aten::upsample_bicubic2d_backward",
                                                             "aten::upsample_bilinear2d_backward",
                                                             "aten::upsample_linear1d_backward"};
  return *names;
}

c10::DispatchKeySet GpuKeys() { return c10::DispatchKeySet(c10::DispatchKey::CUDA); }

bool IsIndexing(const std::string& name) {
  return name.rfind("aten::index", 0) == 0 || name == "aten::_index_put_impl_";
}

// A tensor on the CPU with the same memory.
at::Tensor AliasOf(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  c10::Storage same(c10::Storage::use_byte_size_t(), storage.nbytes(),
                    c10::DataPtr(const_cast<void*>(storage.data()), c10::Device(c10::kCPU)), c10::GetCPUAllocator(),
                    /*resizable=*/true);
  at::Tensor alias = at::detail::make_tensor<c10::TensorImpl>(
      std::move(same), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  alias.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return alias;
}

// The tensors of one call. Tensors of a device are passed to the CPU's kernel as CPU tensors, and its results are
// converted back.
class Call {
 public:
  explicit Call(std::string name) : name_(std::move(name)) {}

  void SetDevice(c10::Device device) { device_ = device; }

  at::Tensor ToCpu(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (tensor.is_cpu()) {
      TORCH_CHECK(tensor.dim() == 0 || IsIndexing(name_),
                  "Expected all tensors to be on the same device, but got one on cpu in ", name_);
      return tensor;
    }
    if (!device_.has_value()) device_ = tensor.device();
    TORCH_CHECK(*device_ == tensor.device(), "Expected all tensors to be on the same device, but found ",
                device_->str(), " and ", tensor.device().str(), " in ", name_);
    CheckStream(tensor, name_);
    for (const Pair& pair : pairs_) {
      if (pair.gpu.is_same(tensor)) return pair.cpu;
    }
    pairs_.push_back({tensor, AliasOf(tensor)});
    return pairs_.back().cpu;
  }

  at::Tensor ToGpu(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    for (const Pair& pair : pairs_) {
      if (pair.cpu.is_same(tensor)) return Written(pair);
    }
    TORCH_CHECK(device_.has_value(), name_, " has no device");
    const OnGpu on(device_->index());
    for (const Pair& pair : pairs_) {
      if (tensor.storage().data() != nullptr && tensor.storage().data() == pair.cpu.storage().data()) {
        return ViewOf(pair.gpu, tensor);
      }
    }
    at::Tensor made = at::detail::empty_strided_generic(tensor.sizes(), tensor.strides(), GpuAllocator(), GpuKeys(),
                                                        tensor.scalar_type());
    if (tensor.numel() > 0) std::memcpy(made.mutable_data_ptr(), tensor.const_data_ptr(), made.storage().nbytes());
    return made;
  }

 private:
  struct Pair {
    at::Tensor gpu, cpu;
  };

  // The device's tensor, whose alias the kernel has written to and perhaps enlarged.
  static at::Tensor Written(const Pair& pair) {
    const auto& [gpu, cpu] = pair;
    if (cpu.storage().data() != gpu.storage().data()) {
      const OnGpu on(gpu.device().index());
      c10::DataPtr block = GpuAllocator()->allocate(cpu.storage().nbytes());
      if (block.get() != nullptr) std::memcpy(block.get(), cpu.storage().data(), cpu.storage().nbytes());
      gpu.storage().unsafeGetStorageImpl()->set_data_ptr(std::move(block));
      gpu.storage().unsafeGetStorageImpl()->set_nbytes(cpu.storage().nbytes());
    }
    if (cpu.sizes() != gpu.sizes() || cpu.strides() != gpu.strides()) {
      gpu.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
    }
    return gpu;
  }

  static at::Tensor ViewOf(const at::Tensor& gpu, const at::Tensor& cpu) {
    at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(gpu.storage()),
                                                               GpuKeys(), gpu.dtype());
    view.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
    return view;
  }

  const std::string name_;
  std::optional<c10::Device> device_;
  std::vector<Pair> pairs_;
};

// CUDA finds the indices of a mask before it uses them.
bool HasMask(const Stack& stack, size_t begin) {
  for (size_t i = begin; i < stack.size(); ++i) {
    if (!stack[i].isOptionalTensorList()) continue;
    for (const auto& index : stack[i].toOptionalTensorVector()) {
      if (!index.has_value() || !index->defined()) continue;
      if (index->scalar_type() == at::kBool || index->scalar_type() == at::kByte) return true;
    }
  }
  return false;
}

void ToCpu(const c10::FunctionSchema& schema, size_t begin, Call* call, Stack* stack) {
  for (size_t i = begin; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (value.isTensor()) {
      value = call->ToCpu(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(call->ToCpu(tensor));
      value = std::move(list);
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& tensor : value.toOptionalTensorVector()) {
        list.push_back(tensor.has_value() ? std::optional<at::Tensor>(call->ToCpu(*tensor)) : std::nullopt);
      }
      value = std::move(list);
    } else if (value.isDevice()) {
      call->SetDevice(value.toDevice());
      value = c10::Device(c10::kCPU);
    } else if (value.isGenerator()) {
      value = CpuGeneratorOf(value.toGenerator());
    } else if (value.isNone() && schema.arguments()[i - begin].name() == "generator") {
      value = CpuGeneratorOf(DefaultGpuGenerator(current_gpu));
    }
  }
}

// A value on the host is a part of the launch, one on the device is not.
void Describe(const at::Tensor& tensor, std::ostream* out) {
  if (!tensor.defined()) {
    *out << "none";
  } else if (tensor.is_cpu() && tensor.dim() == 0) {
    *out << tensor.item();
  } else {
    *out << (tensor.is_cpu() ? "host " : "") << tensor.scalar_type() << tensor.sizes();
    const int64_t place = tensor.is_cpu() ? -1 : DeviceMemoryArena::Get().PlaceOfOlder(tensor.storage().data());
    if (place >= 0) *out << "@" << place;
  }
}

std::string Described(const std::string& name, const Stack& stack, size_t begin) {
  std::ostringstream out;
  out << name;
  for (size_t i = begin; i < stack.size(); ++i) {
    const c10::IValue& value = stack[i];
    out << " ";
    if (value.isTensor()) {
      Describe(value.toTensor(), &out);
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) Describe(tensor, &out);
    } else if (value.isOptionalTensorList()) {
      for (const auto& tensor : value.toOptionalTensorVector()) Describe(tensor.value_or(at::Tensor()), &out);
    } else if (value.isGenerator()) {
      out << "generator";
    } else {
      out << value;
    }
  }
  return out.str();
}

void ToGpu(size_t begin, Call* call, Stack* stack) {
  for (size_t i = begin; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (value.isTensor()) {
      value = call->ToGpu(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(call->ToGpu(tensor));
      value = std::move(list);
    }
  }
}

// All operations that have no kernel below.
void Operation(const c10::OperatorHandle& operation, Stack* stack) {
  const c10::FunctionSchema& schema = operation.schema();
  const size_t begin = stack->size() - schema.arguments().size();
  const std::string name = schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
  if (OperationsThatWait().count(name) > 0 || (IsIndexing(name) && HasMask(*stack, begin))) WaitForGpu(name.substr(6));
  if (NondeterministicOperations().count(name) > 0) at::globalContext().alertNotDeterministic(name + " on CUDA");
  CountOperation(name);
  if (IsRecording()) Record(Described(name, *stack, begin));
  Call call(name);
  ToCpu(schema, begin, &call, stack);
  RunDelayedCopies();
  const DeviceMemoryArena::Kernel kernel;
  operation.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  ToGpu(stack->size() - schema.returns().size(), &call, stack);
}

at::Tensor Empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout> /*layout*/,
                 std::optional<at::Device> device, std::optional<bool> /*pinned*/,
                 std::optional<at::MemoryFormat> format) {
  const OnGpu on(c10::device_or_default(device).index());
  return at::detail::empty_generic(size, GpuAllocator(), GpuKeys(), c10::dtype_or_default(type), format);
}

at::Tensor EmptyStrided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type,
                        std::optional<at::Layout> /*layout*/, std::optional<at::Device> device,
                        std::optional<bool> /*pinned*/) {
  const OnGpu on(c10::device_or_default(device).index());
  return at::detail::empty_strided_generic(size, stride, GpuAllocator(), GpuKeys(), c10::dtype_or_default(type));
}

at::Tensor AsStrided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                     std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor View(const at::Tensor& self, at::IntArrayRef size) { return at::native::view(self, size); }

at::Tensor& SetStorage(at::Tensor& self, at::Storage storage, int64_t offset, at::IntArrayRef size,
                       at::IntArrayRef stride) {
  return at::native::set_storage_cpu_(self, std::move(storage), offset, size, stride);
}

void RecordStream(at::Tensor& self, at::Stream stream) { RecordUse(self, stream.id()); }

void CopyNow(const at::Tensor& self, const at::Tensor& source) {
  RunDelayedCopies();
  const DeviceMemoryArena::Kernel kernel;
  const c10::impl::ExcludeDispatchKeyGuard plain(c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset |
                                                 c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
  const at::Tensor to = self.is_cuda() ? AliasOf(self) : self;
  to.copy_(source.is_cuda() ? AliasOf(source) : source);
}

at::Tensor& Copy(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  if (self.is_same(source) || self.numel() == 0) return self;
  CheckStream(self, "copy_");
  CheckStream(source, "copy_");
  const bool is_plain = self.scalar_type() == source.scalar_type() && self.sizes() == source.sizes() &&
                        self.strides() == source.strides() && self.is_non_overlapping_and_dense();
  if (self.is_cuda() && source.is_cuda()) {
    CountOperation("aten::copy_");
    if (IsRecording()) Record(Described("aten::copy_", {self, source}, 0));
    CopyNow(self, source);
  } else if (self.is_cuda()) {
    CountCopy(/*to_device=*/true);
    if (non_blocking && IsPinned(source.const_data_ptr()) && is_plain) {
      const DeviceMemoryArena::Kernel kernel;
      std::memset(self.mutable_data_ptr(), 0xff, self.nbytes());
      CopyLater(self, source);
    } else {
      if (!non_blocking || !IsPinned(source.const_data_ptr())) WaitForGpu("copy to the device");
      CopyNow(self, source);
    }
  } else {
    CountCopy(/*to_device=*/false);
    if (non_blocking && IsPinned(self.const_data_ptr()) && is_plain) {
      RunDelayedCopies();
      const DeviceMemoryArena::Kernel kernel;
      DeliverLater(self, std::string(static_cast<const char*>(source.const_data_ptr()), source.nbytes()));
      std::memset(self.mutable_data_ptr(), 0xff, self.nbytes());
    } else {
      WaitForGpu("copy to the host");
      CopyNow(self, source);
    }
  }
  return self;
}

at::Scalar Item(const at::Tensor& self) {
  CountCopy(/*to_device=*/false);
  WaitForGpu("item");
  const DeviceMemoryArena::Kernel kernel;
  const c10::impl::ExcludeDispatchKeyGuard plain(c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset);
  return at::_local_scalar_dense(AliasOf(self));
}

TORCH_LIBRARY_IMPL(_, CUDA, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&Operation>()); }

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", Empty);
  library.impl("empty_strided", EmptyStrided);
  library.impl("as_strided", AsStrided);
  library.impl("view", View);
  library.impl("_reshape_alias", at::native::_reshape_alias);
  library.impl("unfold", at::native::unfold);
  library.impl("set_.source_Storage_storage_offset", SetStorage);
  library.impl("record_stream", RecordStream);
  library.impl("copy_", Copy);
  library.impl("_local_scalar_dense", Item);
  // LibTorch's own would look for cuDNN.
  library.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&Operation>());
  library.impl("convolution_backward", torch::CppFunction::makeFromBoxedFunction<&Operation>());
  // On all tensors of a list in one kernel; their CPU forms are one operation a tensor.
  for (const char* name :
       {"_foreach_abs", "_foreach_add_.List", "_foreach_add_.Scalar", "_foreach_copy_", "_foreach_lerp_.Scalar",
        "_foreach_mul.List", "_foreach_mul.Tensor", "_foreach_norm.Scalar"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&Operation>());
  }
}

}  // namespace

int64_t GpuMemoryInUse() { return DeviceMemoryArena::Get().bytes_taken(); }
int64_t GpuMemoryKept() { return DeviceMemoryArena::Get().bytes_kept(); }

}  // namespace openset
