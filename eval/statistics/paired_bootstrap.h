// Compares methods on the same samples by a bootstrap.
#ifndef OPENSET_EVAL_STATISTICS_PAIRED_BOOTSTRAP_H_
#define OPENSET_EVAL_STATISTICS_PAIRED_BOOTSTRAP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"
#include "eval/statistics/bootstrap.h"
#include "eval/statistics/verdict.h"

namespace openset {

struct PairedDifference {
  std::optional<double> value_a;
  std::optional<double> value_b;
  IntervalValue difference;  // a - b
  // The two-sided p-value of no difference, by inverting the interval (replicate_interval.h).
  double p_value = 1;
  Verdict verdict = Verdict::kNoDetectableDifference;  // by the interval or, equivalently, the p-value
  // The interval at Holm's level of the p-value among all pairs by this metric (HolmLevels in several_methods.h); equal
  // to the interval above if there is one pair.
  AdjustedInterval adjusted;
};

// Two methods of a list.
struct MethodPair {
  int a = 0;
  int b = 0;  // > a
  std::vector<PairedDifference> metrics;
};

// The metrics of all methods, with the same replicates, and the differences of each pair, (0, 1), (0, 2), ..., (1, 2),
// .... The weights of the first method are used for all. Errors: those of BootstrapIntervals; kInvalidArgument if there
// are fewer than two methods, or if labels or groups differ from those of the first.
absl::StatusOr<std::vector<MethodPair>> PairedBootstrap(absl::Span<const MetricSpec> metrics,
                                                        absl::Span<const RankedInput* const> methods,
                                                        const BootstrapOptions& options);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PAIRED_BOOTSTRAP_H_
