// Checks a study as it is written, before it is expanded.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_
#define OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "experiments/spec/experiment_file.h"

namespace openset {

// Refuses a name that can't be a file's name; anything that is listed twice: a task, method, split, level, seed, a
// metric's name, two axes that set one field of a method, two equal values of an axis ("0.10", "0.1"); an axis for a
// method that the study doesn't have; and a metric that contradicts itself (eval/metrics/evaluate.h). Errors:
// kInvalidArgument with "FILE:LINE: path: ".
absl::Status CheckSpec(const Experiment& experiment);

// Checks that the number of trials, including tuned ones, is `expected_trials`. A study that the command line changed
// may have another number. Errors: kInvalidArgument, with both numbers.
absl::Status CheckExpectedTrials(const Experiment& experiment, int64_t trials);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_
