// What the simulated GPUs of memory_gpu.h do: counted, recorded in order, and made to fail.
#ifndef OPENSET_CORE_TENSOR_TESTING_GPU_WORK_H_
#define OPENSET_CORE_TENSOR_TESTING_GPU_WORK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace openset {

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
  // A tensor has its place ("@512") if it is older than this step (BeginGpuStep()) and no "other" thread made it: a
  // CUDA graph, which holds places, needs that it stays there.
  std::map<std::string, std::vector<std::string>> sequence;

  int64_t Operations() const;
  // Of one thread.
  int64_t Waits(const std::string& thread) const;
};

// Since the last ForgetGpuWork().
GpuWork GpuWorkSoFar();
void ForgetGpuWork(bool record_sequence = false);
// What was allocated before is older than the step that begins.
void BeginGpuStep();

// Makes the n-th operation from now on (1: the next one) throw what LibTorch throws on a GPU. After kDeviceError all
// later operations throw too, until RepairGpu().
enum class GpuFailure { kOutOfMemory, kDeviceError };
void FailGpuOperation(int64_t n, GpuFailure failure);
void RepairGpu();

// From now on, memory of or for another GPU throws: on a GPU that no action uses, CUDA would make a context too.
void AllowOnlyGpu(int gpu);

// The GPUs report what they do here.

// Counts the kernels of an operation on a device. Throws if FailGpuOperation() applies to it.
void CountOperation(const std::string& name);
void CountCopy(bool to_device);
// Called when memory is allocated on this GPU, or pinned while it is the current one. Throws if AllowOnlyGpu() forbids
// that.
void CheckContext(int gpu);
// The number of the step, -1 in an "other" thread.
int64_t GpuStepOfThread();
// Counts a wait of the host.
void CountWait(const std::string& operation);
// Adds a line to GpuWork.sequence, if it is wanted.
bool IsRecording();
void Record(const std::string& line);

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TESTING_GPU_WORK_H_
