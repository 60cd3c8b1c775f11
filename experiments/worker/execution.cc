#include "experiments/worker/execution.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "core/tensor/torch_runtime.h"

namespace openset {

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
  context.setAllowTF32CuDNN(false);
  context.setAllowTF32CuBLAS(false);
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

std::string DescribeDevice(at::Device device) {
  if (device.is_cpu()) return absl::StrCat("cpu (", at::get_cpu_capability(), ")");
  return device.str();
}

std::string LibTorchVersion() { return TORCH_VERSION; }

}  // namespace openset
