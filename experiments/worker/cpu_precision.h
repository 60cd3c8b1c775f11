// Whether a CPU can compute in a trial's precision.
#ifndef OPENSET_EXPERIMENTS_WORKER_CPU_PRECISION_H_
#define OPENSET_EXPERIMENTS_WORKER_CPU_PRECISION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/spec/trial.proto.h"

namespace openset {

// OK for FP32, for a spec of a GPU, and for BF16 where `cpu_features` (core/process/machine.h) have avx512bf16; CPUs
// with AMX have it too. Without it a CPU has no instructions for BF16 and is slower than in FP32. Errors:
// kFailedPrecondition, which names `cpu` and says what to do.
absl::Status CheckCpuPrecision(const ExecutionSpec& spec, const std::string& cpu,
                               const std::vector<std::string>& cpu_features);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_CPU_PRECISION_H_
