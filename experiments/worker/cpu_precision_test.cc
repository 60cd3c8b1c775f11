#include "experiments/worker/cpu_precision.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(CpuPrecisionTest, Bf16NeedsInstructionsForIt) {
  ExecutionSpec spec;
  const std::vector<std::string> avx2 = {"sse4.2", "avx", "avx2", "fma"};
  EXPECT_THAT(CheckCpuPrecision(spec, "a CPU", avx2), IsOk());
  spec.set_precision(ExecutionSpec::BF16);
  EXPECT_THAT(CheckCpuPrecision(spec, "a CPU", avx2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("execution.precision"), HasSubstr("(a CPU)"), HasSubstr("FP32"))));
  EXPECT_THAT(CheckCpuPrecision(spec, "a CPU", {"avx2", "avx512f", "avx512bf16"}), IsOk());
  spec.set_device(ExecutionSpec::CUDA);
  EXPECT_THAT(CheckCpuPrecision(spec, "a CPU", avx2), IsOk());
}

TEST(CpuPrecisionTest, Tf32NeedsAGpu) {
  ExecutionSpec spec;
  spec.set_precision(ExecutionSpec::TF32);
  EXPECT_THAT(CheckCpuPrecision(spec, "a CPU", {"avx512bf16"}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("execution.precision: TF32"), HasSubstr("FP32 on the CPU"))));
  spec.set_device(ExecutionSpec::CUDA);
  EXPECT_THAT(CheckCpuPrecision(spec, "a CPU", {}), IsOk());
}

}  // namespace
}  // namespace openset
