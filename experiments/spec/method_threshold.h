// The threshold of a method's own decisions, in metrics that ask for it.
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_

#include "absl/status/status.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/trial.pb.h"

namespace openset {

// Puts the threshold of the trial's method, for its number of known classes, where the metric says `of_method`; leaves
// other metrics as they are. Errors: kInvalidArgument for a method without a decision, or without one for so many
// classes.
absl::Status SetMethodThreshold(const TrialSpec& trial, MetricSpec* metric);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_
