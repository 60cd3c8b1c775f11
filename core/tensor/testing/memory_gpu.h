// Two GPUs simulated in host memory, for tests.
#ifndef OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_H_
#define OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/tensor/torch_device.h"

namespace openset {

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

// The state shared by the parts of the test GPUs.

inline constexpr c10::DeviceIndex kMemoryGpus = 2;

// This thread's current GPU.
c10::DeviceIndex CurrentGpu();
void SetCurrentGpu(c10::DeviceIndex gpu);

// During its lifetime, `gpu` is the current GPU. -1 leaves the current one unchanged.
class OnGpu {
 public:
  explicit OnGpu(c10::DeviceIndex gpu) : before_(CurrentGpu()) {
    if (gpu >= 0) SetCurrentGpu(gpu);
  }
  ~OnGpu() { SetCurrentGpu(before_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

 private:
  const c10::DeviceIndex before_;
};

// The id of this thread's current stream on a GPU; 0 is the default one.
c10::StreamId CurrentStream(c10::DeviceIndex gpu);
void SetCurrentStream(c10::DeviceIndex gpu, c10::StreamId stream);
c10::StreamId NewStream();
// Records that this thread's stream allocated a block of the current GPU's memory, and that it was freed.
void NoteBlock(const void* block);
void ForgetBlock(const void* block);
// Throws if another stream has allocated the tensor and record_stream() was not called for this one.
void CheckStream(const at::Tensor& tensor, const std::string& operation);
void RecordUse(const at::Tensor& tensor, c10::StreamId stream);

c10::DeviceAllocator* GpuAllocator();
bool IsPinned(const void* pointer);

// The CPU generator from which a GPU generator draws.
at::Generator& CpuGeneratorOf(const at::Generator& gpu_generator);
const at::Generator& DefaultGpuGenerator(c10::DeviceIndex gpu);

// Counts the kernels of an operation on a device. Throws if FailGpuOperation() applies to it.
void CountOperation(const std::string& name);
void CountCopy(bool to_device);
// Adds a line to GpuWork.sequence, if it is wanted.
bool IsRecording();
void Record(const std::string& line);
// Counts a wait of the host, and completes asynchronous copies to the host.
void WaitForGpu(const std::string& operation);

// Asynchronous copies between tensors of one type, size and layout, without gaps. `bytes` go to the host's memory when
// it waits; the copy to the device runs before the next operation on this thread's stream.
void DeliverLater(at::Tensor host, std::string bytes);
void CopyLater(at::Tensor to, at::Tensor from);
// Runs those to the device on this thread's streams.
void RunDelayedCopies();
void RunDelayedCopies(c10::DeviceIndex gpu, c10::StreamId stream);
void DeliverToHost();

// Two GPUs made of the host's memory, "cuda:0" and "cuda:1", for tests on machines without one.
//
// To use them, link this into a binary without LibTorch's CUDA libraries. It registers an allocator, a device guard,
// generators, pinned memory and operations in place of theirs, so that LibTorch, and all code that asks for at::kCUDA
// or is_cuda(), treats it as CUDA. Each operation runs LibTorch's CPU kernel on the device's memory. Results are
// therefore bit-identical to the CPU's if both use the same operations. Generators draw the same numbers as the CPU's.
//
// Mistakes that fail on a GPU fail here too:
//   * Reading or writing a device's memory from the host crashes at that line.
//   * An operation on tensors of two devices throws, except what CUDA takes from the CPU: tensors without dimensions,
//     and indices.
//   * An asynchronous copy to the device reads its pinned source when the stream's next operation begins, or when the
//     host waits for it. One to the host delivers when the host waits; until then its target is full of NaN (0xff).
//   * An asynchronous copy belongs to a stream: operations on other streams don't see its values before they wait for
//     an event after it. An operation on a tensor that another stream than the default one allocated throws, unless
//     record_stream() was called for it.
//   * Operations without a deterministic form on CUDA throw if LibTorch is set to use only deterministic ones.

// The work done by the GPUs.
struct GpuWork {
  // Operations on the devices. CUDA launches one kernel for most of them, a few for some.
  std::map<std::string, int64_t> operations;  // by name
  int64_t copies_to_device = 0;
  int64_t copies_to_host = 0;
  // Where the host waited for a device: copies from or to pageable memory, the value of an element, operations whose
  // result has a size that depends on values, and explicit synchronisation. By thread ("main": the one that called
  // ForgetGpuWork(), "autograd", "other") and the operation: "main: item".
  std::map<std::string, int64_t> waits;
  // What happened in order, of "other" threads and of "main" and "autograd" together ("main"), if it was asked for:
  // each operation with its numbers and the types and shapes of its tensors, copies between host and device, and waits.
  std::map<std::string, std::vector<std::string>> sequence;

  int64_t Operations() const;
  // Of one thread.
  int64_t Waits(const std::string& thread) const;
};

// Since the last ForgetGpuWork().
GpuWork GpuWorkSoFar();
void ForgetGpuWork(bool record_sequence = false);

// Makes the n-th operation from now on (1: the next one) throw what LibTorch throws on a GPU. After kDeviceError all
// later operations throw too, until RepairGpu().
enum class GpuFailure { kOutOfMemory, kDeviceError };
void FailGpuOperation(int64_t n, GpuFailure failure);
void RepairGpu();

// In bytes: in use by tensors, and kept for later ones.
int64_t GpuMemoryInUse();
int64_t GpuMemoryKept();

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_H_
