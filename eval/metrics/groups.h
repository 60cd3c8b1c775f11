// Several sets of unknown samples at once.
#ifndef OPENSET_EVAL_METRICS_GROUPS_H_
#define OPENSET_EVAL_METRICS_GROUPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// How far a set of unknown samples lies from the known classes.
enum class Distance { kNotSaid, kNear, kFar };

struct Group {
  std::string name;
  Distance distance = Distance::kNotSaid;
};

// The metrics of the known samples and some of the unknown ones.
struct GroupValues {
  std::string name;
  int64_t known_samples = 0;
  int64_t unknown_samples = 0;
  std::vector<MetricValue> values;  // in the order of the metrics
};

struct GroupedValues {
  // Each group against all known samples.
  std::vector<GroupValues> groups;
  // The unweighted means of the near and of the far groups; a metric is absent there if it is absent for one of them.
  // Absent without such groups.
  std::vector<GroupValues> means;  // "near", "far"
  // All groups together.
  GroupValues pool;
};

// [N], the weights of `ranked`, 0 for unknown samples of other groups: what a group is measured on. Precondition: the
// input has groups.
std::vector<uint32_t> WeightsOfGroup(const RankedInput& ranked, int32_t group);

// `groups` [num_groups or more]: those of the input's group numbers, in order. The ranking is shared: a group is the
// input with weights of 0 for the others.
// Errors, kInvalidArgument: those of Evaluate; an input without groups; fewer groups than the input has.
absl::StatusOr<GroupedValues> EvaluateGroups(absl::Span<const MetricSpec> metrics, const RankedInput& ranked,
                                             absl::Span<const Group> groups);

// Full-spectrum: each of several sets of known samples against all unknown samples. `known_set` [N]: the set of each
// known sample, -1 for one that is of none; not read for unknown ones. A set's `unknown_samples` are those of the
// input. Errors, kInvalidArgument: those of Evaluate; another length than the input's, a set without a name.
absl::StatusOr<std::vector<GroupValues>> EvaluateKnownSets(absl::Span<const MetricSpec> metrics,
                                                           const RankedInput& ranked,
                                                           absl::Span<const int32_t> known_set,
                                                           absl::Span<const std::string> names);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_GROUPS_H_
