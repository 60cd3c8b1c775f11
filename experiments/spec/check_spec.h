// Checks a study's spec as written, before it is expanded.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_
#define OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "experiments/spec/experiment_file.h"

namespace openset {

// Finds a name that can't be a file's name; a duplicate task, method, split, level, seed or metric name; two axes that
// set the same field of a method; two equal values of an axis ("0.10", "0.1"); an axis for a method that the study
// doesn't have. Errors: kInvalidArgument with "FILE:LINE: path: ".
absl::Status CheckSpec(const Experiment& experiment);

// Checks that the number of trials, including tuned ones, is `expected_trials`. Studies that the command line changed
// are not checked. Errors: kInvalidArgument, with both numbers.
absl::Status CheckExpectedTrials(const Experiment& experiment, int64_t trials);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_
