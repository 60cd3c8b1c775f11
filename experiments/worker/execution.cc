#include "experiments/worker/execution.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/process/gpu/gpus.h"
#include "core/tensor/torch_runtime.h"
#include "experiments/worker/cpu_precision.h"

namespace openset {
namespace {

// "NVIDIA H200"; LibTorch's "cuda:0" if the driver can't be queried.
std::string GpuName(at::Device device) {
  const absl::StatusOr<std::vector<std::string>> names = GpuNames();
  const bool known = names.ok() && device.index() >= 0 && device.index() < names->size();
  return known ? (*names)[device.index()] : device.str();
}

}  // namespace

void ConfigureExecution(const ExecutionSpec& spec) {
  // Makes cuBLAS repeatable. It is read when the process first uses cuBLAS.
  static const int set = setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/1);
  static_cast<void>(set);
  at::set_num_threads(spec.threads());
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(/*enabled=*/true, /*warn_only=*/false);
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  const bool tf32 = spec.precision() == ExecutionSpec::TF32;
  context.setAllowTF32CuDNN(tf32);
  context.setAllowTF32CuBLAS(tf32);
}

PrecisionScope::PrecisionScope(const ExecutionSpec& spec, at::Device device)
    : device_(device.type()), on_(spec.precision() == ExecutionSpec::BF16) {
  if (!on_) return;
  at::autocast::set_autocast_dtype(device_, at::kBFloat16);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::increment_nesting();
}

PrecisionScope::~PrecisionScope() {
  if (!on_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, false);
}

at::MemoryFormat ImageLayout(const ExecutionSpec& spec, at::Device device) {
  const bool tensor_cores = spec.precision() == ExecutionSpec::TF32 || spec.precision() == ExecutionSpec::BF16;
  return device.is_cpu() || tensor_cores ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

void DescribeExecution(const ExecutionSpec& spec, at::Device device, StageProvenance* provenance) {
  provenance->set_libtorch_version(TORCH_VERSION);
  provenance->set_cpu_capability(at::get_cpu_capability());
  provenance->set_threads(spec.threads());
  if (device.is_cpu()) return;
  provenance->set_gpu(GpuName(device));
  provenance->set_gpu_driver(GpuDriverVersion());
}

absl::Status CheckDevice(const ExecutionSpec& spec, at::Device device) {
  if (device.is_cpu()) return CheckCpuPrecision(spec);
  if (spec.device_kind().empty()) return absl::OkStatus();
  const std::string name = GpuName(device);
  if (name == spec.device_kind()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the trial runs on ", spec.device_kind(), ", and ", device.str(),
                                                    " is ", name, ": give one of its kind, --devices"));
}

}  // namespace openset
