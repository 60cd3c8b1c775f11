// Computes metrics of one input, and of several groups of unknown samples.
#ifndef OPENSET_EVAL_METRICS_EVALUATE_H_
#define OPENSET_EVAL_METRICS_EVALUATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// ---- Computes metrics of one input.

// The values in the order of `metrics`; a metric that is undefined on the input is absent, with a reason. Errors:
// kInvalidArgument for a spec that violates its schema's rules or contradicts itself, or for two metrics with the same
// name.
absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const EvaluationInput& input);

// The same for an input that is ranked already.
absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const RankedInput& ranked);

// Which fields of a metric contradict each other; "" if none do. The schema's rules are for single fields.
std::string ContradictionOf(const MetricSpec& metric);

// OK, or the error that Evaluate() returns for these metrics: kInvalidArgument.
absl::Status CheckMetrics(absl::Span<const MetricSpec> metrics);

// ---- Evaluates several groups of unknown samples.

// How far a group of unknown samples is from the known classes.
enum class Distance { kUnspecified, kNear, kFar };

struct Group {
  std::string name;
  Distance distance = Distance::kUnspecified;
};

// The metrics of the known samples with some of the unknown samples.
struct GroupValues {
  std::string name;
  int64_t known_samples = 0;
  int64_t unknown_samples = 0;
  std::vector<MetricValue> values;  // in the order of the metrics
};

struct GroupedValues {
  // Each group against all known samples.
  std::vector<GroupValues> groups;
  // The unweighted means over the near groups and over the far groups, absent without such groups. In a mean, a metric
  // is absent if it is absent for one of the groups.
  std::vector<GroupValues> means;  // "near", "far"
  // All groups together.
  GroupValues pool;
};

// [N], the sample weights with which a group is evaluated: `ranked`'s weights, but 0 for unknown samples of other
// groups. Precondition: the input has groups.
std::vector<uint32_t> WeightsOfGroup(const RankedInput& ranked, int32_t group);

// Evaluates each group. `groups` [num_groups or more] describes the input's groups, by number. All groups share the
// ranking; samples of other groups get the weight 0. Errors: kInvalidArgument for metrics that CheckMetrics() refuses,
// for an input without groups, or if `groups` has fewer groups than the input.
absl::StatusOr<GroupedValues> EvaluateGroups(absl::Span<const MetricSpec> metrics, const RankedInput& ranked,
                                             absl::Span<const Group> groups);

// Full-spectrum evaluation: each of several sets of known samples against all unknown samples. `known_set` [N] is the
// set of each known sample, or -1 for none; it is not read for unknown samples. The `unknown_samples` of each set are
// the input's. Errors: kInvalidArgument for metrics that CheckMetrics() refuses, if the length differs from the
// input's, or for a set without a name.
absl::StatusOr<std::vector<GroupValues>> EvaluateKnownSets(absl::Span<const MetricSpec> metrics,
                                                           const RankedInput& ranked,
                                                           absl::Span<const int32_t> known_set,
                                                           absl::Span<const std::string> names);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_EVALUATE_H_
