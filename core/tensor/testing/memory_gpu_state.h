// The state shared by the parts of the test GPUs (memory_gpu.h).
#ifndef OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_STATE_H_
#define OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_STATE_H_

#include <string>

#include "core/tensor/torch_device.h"

namespace openset {

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

// Counts an operation on a device. Throws if FailGpuOperation() applies to it.
void CountOperation(const std::string& name);
void CountCopy(bool to_device);
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

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_STATE_H_
