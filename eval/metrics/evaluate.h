// Computes metrics of one input.
#ifndef OPENSET_EVAL_METRICS_EVALUATE_H_
#define OPENSET_EVAL_METRICS_EVALUATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The values in the order of `metrics`; a metric that is undefined on the input is absent, with a reason. Errors:
// kInvalidArgument for a spec that violates its schema's rules or contradicts itself, or for two metrics with the same
// name.
absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const EvaluationInput& input);

// The same for an input that is ranked already.
absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const RankedInput& ranked);

// Which fields of a metric contradict each other; "" if none do. The schema's rules are for single fields.
std::string ContradictionOf(const MetricSpec& metric);

// The error that Evaluate() returns for these metrics, or OK.
absl::Status CheckMetrics(absl::Span<const MetricSpec> metrics);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_EVALUATE_H_
