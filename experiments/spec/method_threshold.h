// The threshold of a method's own decisions, in metrics that ask for it.
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_

#include <optional>

#include "absl/status/statusor.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// Puts the threshold of the method, for so many known classes, if the metric says `of_method`; leaves other metrics
// as they are and returns false. Errors: kInvalidArgument for a method without a decision, or without one for so many
// classes.
absl::StatusOr<bool> SetMethodThreshold(const MethodSpec& method, int known_classes, MetricSpec* metric);

// The way back, for what is said of several methods at once: puts `of_method` where the metric has a threshold, and
// returns this one.
std::optional<double> TakeThreshold(MetricSpec* metric);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_
