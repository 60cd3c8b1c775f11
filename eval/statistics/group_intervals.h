// Intervals for several groups of unknown samples, and for the means over the near and the far groups.
#ifndef OPENSET_EVAL_STATISTICS_GROUP_INTERVALS_H_
#define OPENSET_EVAL_STATISTICS_GROUP_INTERVALS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/metrics/groups.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"
#include "eval/statistics/bootstrap.h"

namespace openset {

struct GroupInterval {
  std::string name;                    // a group's name, or "near", "far" or "pool"
  std::vector<IntervalValue> metrics;  // in their order
};

// The columns of EvaluateGroups (groups, means, pool), each metric with its interval. A replicate draws the known
// samples once for all groups, so that a mean's interval accounts for its groups sharing them. For the value 0 or 1,
// intervals of groups and the pool are those of BootstrapIntervals; a mean's interval is a point if all replicates
// agree. Errors: those of BootstrapIntervals and of EvaluateGroups.
absl::StatusOr<std::vector<GroupInterval>> GroupIntervals(absl::Span<const MetricSpec> metrics,
                                                          const RankedInput& ranked, absl::Span<const Group> groups,
                                                          const BootstrapOptions& options);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_GROUP_INTERVALS_H_
