// Asking workers of this machine how fast a training is.
#ifndef OPENSET_EXPERIMENTS_ENGINE_PROBE_RATE_H_
#define OPENSET_EXPERIMENTS_ENGINE_PROBE_RATE_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/engine/local_engine.h"
#include "experiments/spec/action.proto.h"

namespace openset {

// Training images a second of one of `at_once` trainings that run side by side, on the GPU of this ordinal or, for -1,
// on the CPU: the smallest of what the workers report (experiments/train/probe.h). Takes the workers' start and some
// seconds. Nothing is left behind: logs go to a
// TemporaryFolder.
// Errors: kDeadlineExceeded after `limit`; kUnavailable for a worker that dies, kNotFound for one that is not there;
// those of the probe.
absl::StatusOr<double> ProbeRate(const TrainAction& action, int at_once, int gpu, const LocalEngineOptions& options,
                                 absl::Duration limit = absl::Seconds(60));

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_PROBE_RATE_H_
