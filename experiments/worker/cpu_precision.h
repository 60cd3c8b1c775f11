// Checks that a CPU has instructions for a trial's precision.
#ifndef OPENSET_EXPERIMENTS_WORKER_CPU_PRECISION_H_
#define OPENSET_EXPERIMENTS_WORKER_CPU_PRECISION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/spec/trial.proto.h"

namespace openset {

// OK for FP32 and for trials on a GPU. TF32 needs a GPU. BF16 on a CPU needs AVX512-BF16, which every CPU with AMX has
// too; other CPUs compute BF16 more slowly than FP32. Errors: kFailedPrecondition. The message names the CPU and what
// to use instead.
absl::Status CheckCpuPrecision(const ExecutionSpec& spec);

// The same for a CPU with this name and these features (core/machine/machine.h).
absl::Status CheckCpuPrecision(const ExecutionSpec& spec, const std::string& cpu,
                               const std::vector<std::string>& cpu_features);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_CPU_PRECISION_H_
