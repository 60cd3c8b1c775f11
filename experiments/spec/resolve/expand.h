// Expands a study into trials.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/trial.h"

namespace openset {

// The largest number of trials of a study, unless the user allows more.
inline constexpr int64_t kMostTrials = 1000000;

struct ExpandOptions {
  // For studies that don't set `execution.device`.
  ExecutionSpec::Device default_device = ExecutionSpec::CPU;
  // The kind of the machine's GPUs, for studies that don't set `execution.device_kind`; "" if it is not known.
  std::string device_kind;
  // The largest numbers of trials and of candidates of searches. More are refused before any is made.
  int64_t max_trials = kMostTrials;
};

// Returns the trials of a study, fully resolved: defaults are filled in and every value is checked. They are ordered by
// task, method, axis values (the last axis fastest), split, openness level and seed, and restricted to Experiment.only.
// A pure function that reads no file. Errors: kInvalidArgument, with a line "FILE:LINE: path: ..." for each problem;
// for more trials than allowed, with their number.
absl::StatusOr<std::vector<Trial>> Expand(const Experiment& experiment, const ExpandOptions& options = {});

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_EXPAND_H_
