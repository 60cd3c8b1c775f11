// Expands a study to its trials.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/trial.h"

namespace openset {

// The default limit of a study's trials.
inline constexpr int64_t kMostTrials = 1000000;

struct ExpandOptions {
  // The device of studies that don't set `execution.device`.
  ExecutionSpec::Device default_device = ExecutionSpec::CPU;
  // The kind of this machine's GPUs, for studies that don't set `execution.device_kind`; "" if unknown.
  std::string device_kind;
  // The largest number of trials, and of candidates of searches. More are an error, found before any is made.
  int64_t max_trials = kMostTrials;
};

// Returns the trials of a study, fully resolved: defaults are filled in and every value is checked. They are ordered by
// task, method, axis values (the last axis varies fastest), split, openness level and seed, and restricted to
// Experiment.only. This is a pure function that reads no files. Errors: kInvalidArgument, one line per problem,
// starting with "FILE:LINE: path: "; also for more trials than allowed, with their number.
absl::StatusOr<std::vector<Trial>> Expand(const Experiment& experiment, const ExpandOptions& options = {});

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
