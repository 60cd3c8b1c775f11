// Applies an ExecutionSpec to LibTorch.
#ifndef OPENSET_EXPERIMENTS_WORKER_EXECUTION_H_
#define OPENSET_EXPERIMENTS_WORKER_EXECUTION_H_

#include "absl/status/status.h"
#include "core/tensor/torch.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {

// Sets threads, deterministic algorithms (cuBLAS's too: CUBLAS_WORKSPACE_CONFIG) and whether products are rounded to
// TF32, for the whole process. Call it before the process first uses a GPU.
void ConfigureExecution(const ExecutionSpec& spec);

// While an object of this class exists, this thread's operations on the device run in the spec's precision (autocast).
class PrecisionScope {
 public:
  PrecisionScope(const ExecutionSpec& spec, at::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  at::DeviceType device_;
  bool on_;
};

// The memory layout of images, feature maps and convolutions' weights: channels-last on a CPU, and on a GPU whose
// tensor cores compute the convolutions (TF32, BF16), because their fast kernels read it; contiguous on a GPU in FP32.
at::MemoryFormat ImageLayout(const ExecutionSpec& spec, at::Device device);

// Adds LibTorch and the hardware that it uses to the provenance of a stage: libtorch_version, cpu_capability, threads
// and, on a GPU, its name and driver.
void DescribeExecution(const ExecutionSpec& spec, at::Device device, StageProvenance* provenance);

// Checks that `device` fits the spec: a GPU must be of its kind, a CPU must have instructions for its precision
// (cpu_precision.h). Errors: kFailedPrecondition. The message names what the trial needs and the device.
absl::Status CheckDevice(const ExecutionSpec& spec, at::Device device);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_EXECUTION_H_
