// Measures the speed of trainings in workers on this machine.
#ifndef OPENSET_EXPERIMENTS_ENGINE_PROBE_RATE_H_
#define OPENSET_EXPERIMENTS_ENGINE_PROBE_RATE_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/engine/local_engine.h"
#include "experiments/spec/action.proto.h"

namespace openset {

// Returns the training images per second of one of `at_once` trainings that run side by side, on the GPU of this
// ordinal or, for -1, on the CPU: the smallest rate that the workers report (experiments/train/probe.h). This takes
// some seconds in addition to the workers' start. Leaves no files: logs go to a TemporaryFolder.
// Errors: kDeadlineExceeded after `limit`; kUnavailable if a worker dies; kNotFound if a worker's program is missing;
// those of the probe.
absl::StatusOr<double> ProbeRate(const TrainAction& action, int at_once, int gpu, const LocalEngineOptions& options,
                                 absl::Duration limit = absl::Seconds(60));

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_PROBE_RATE_H_
