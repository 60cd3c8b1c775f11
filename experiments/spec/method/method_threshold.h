// The threshold of a method's own decisions, in metrics that use it.
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_METHOD_THRESHOLD_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_METHOD_THRESHOLD_H_

#include <optional>

#include "absl/status/statusor.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// If the metric says `of_method`, replaces that by the method's threshold for this number of known classes and returns
// true. Otherwise returns false. Errors: kInvalidArgument for a method without a decision, or without one for this
// number of classes.
absl::StatusOr<bool> SetMethodThreshold(const MethodSpec& method, int known_classes, MetricSpec* metric);

// The inverse, for texts about several methods: replaces the metric's threshold by `of_method` and returns the
// threshold.
std::optional<double> TakeThreshold(MetricSpec* metric);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_METHOD_THRESHOLD_H_
