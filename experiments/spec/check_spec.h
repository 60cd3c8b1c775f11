// What can be wrong with an experiment as it is written, before anything is made of it.
#ifndef OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_
#define OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "experiments/spec/experiment_file.h"

namespace openset {

// A name that is no file's name; something listed twice: a task, method, split, level, seed, a metric's name, two axes
// that set one field of a method, two values of an axis that are equal ("0.10", "0.1"); an axis for a method that the
// experiment has not. Errors: kInvalidArgument with "FILE:LINE: path: ".
absl::Status CheckSpec(const Experiment& experiment);

// Whether it makes as many trials, tuned ones included, as `expected_trials` says. An experiment that the command line
// laid something over may make others. Errors: kInvalidArgument, with both numbers.
absl::Status CheckExpectedTrials(const Experiment& experiment, int64_t trials);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_CHECK_SPEC_H_
