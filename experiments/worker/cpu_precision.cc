#include "experiments/worker/cpu_precision.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/machine/machine.h"

namespace openset {

absl::Status CheckCpuPrecision(const ExecutionSpec& spec) {
  static const auto* const name = new std::string(CpuName());
  static const auto* const features = new std::vector<std::string>(CpuFeatures());
  return CheckCpuPrecision(spec, *name, *features);
}

absl::Status CheckCpuPrecision(const ExecutionSpec& spec, const std::string& cpu,
                               const std::vector<std::string>& cpu_features) {
  if (spec.device() == ExecutionSpec::CUDA) return absl::OkStatus();
  if (spec.precision() == ExecutionSpec::TF32) {
    return absl::FailedPreconditionError(
        "execution.precision: TF32 needs a GPU: use FP32 on the CPU, or a GPU (--devices)");
  }
  if (spec.precision() != ExecutionSpec::BF16) return absl::OkStatus();
  if (std::count(cpu_features.begin(), cpu_features.end(), "avx512bf16") > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("execution.precision: BF16 needs a GPU, or a CPU with AVX512-BF16 or AMX; this one (", cpu,
                   ") has neither and would be slower than in FP32: use FP32, or a GPU (--devices)"));
}

}  // namespace openset
