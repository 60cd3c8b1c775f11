// Applies an ExecutionSpec to LibTorch.
#ifndef OPENSET_EXPERIMENTS_WORKER_EXECUTION_H_
#define OPENSET_EXPERIMENTS_WORKER_EXECUTION_H_

#include <string>

#include "core/tensor/torch.h"
#include "experiments/spec/trial.pb.h"

namespace openset {

// Sets threads, deterministic algorithms (cuBLAS's too: CUBLAS_WORKSPACE_CONFIG) and true fp32 products for the whole
// process. Call it before the process first uses a GPU.
void ConfigureExecution(const ExecutionSpec& spec);

// While it lives, operations of this thread on the device run in the spec's precision (autocast).
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

// "cpu (AVX512)", "cuda (NVIDIA H200)".
std::string DescribeDevice(at::Device device);

// "2.11.0".
std::string LibTorchVersion();

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_EXECUTION_H_
