// Experiment -> trials.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/trial.h"

namespace openset {

// Trials of a study, unless more are asked for.
inline constexpr int64_t kMostTrials = 1000000;

struct ExpandOptions {
  // For experiments that leave `execution.device` open.
  ExecutionSpec::Device default_device = ExecutionSpec::CPU;
  // The kind of the GPUs that are there, for those that leave `execution.device_kind` open; "" if it is not known.
  std::string device_kind;
  // More are refused before any is made: trials, and candidates of searches.
  int64_t max_trials = kMostTrials;
};

// The trials of an experiment, fully resolved: defaults filled in, every value checked. Ordered by task, method, axis
// values (the last axis fastest), split, openness level, seed; only those of Experiment.only. A pure function: it reads
// no file. Errors: kInvalidArgument, a line a problem, with "FILE:LINE: path: "; more trials than allowed, with their
// number.
absl::StatusOr<std::vector<Trial>> Expand(const Experiment& experiment, const ExpandOptions& options = {});

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
