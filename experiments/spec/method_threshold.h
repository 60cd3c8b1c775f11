// Replaces `of_method` in metrics by the threshold of the method's decisions, and back.
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_

#include <optional>

#include "absl/status/statusor.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// If the metric has `of_method`, replaces it by the method's threshold for this number of known classes. Otherwise
// leaves the metric unchanged and returns false. Errors: kInvalidArgument if the method has no decision, or none for
// this number of classes.
absl::StatusOr<bool> SetMethodThreshold(const MethodSpec& method, int known_classes, MetricSpec* metric);

// The inverse, for text about several methods at once: if the metric has a threshold, replaces it by `of_method` and
// returns the threshold.
std::optional<double> TakeThreshold(MetricSpec* metric);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_THRESHOLD_H_
