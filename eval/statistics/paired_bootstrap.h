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
  Verdict verdict = Verdict::kNoDetectableDifference;  // of the interval, or, which is the same, of the p-value
  // At the level that Holm's procedure holds the p-value to, among those of all pairs by this metric
  // (several_methods.h); the interval above where there is one pair.
  AdjustedInterval adjusted;
};

// Two methods of a list.
struct MethodPair {
  int a = 0;
  int b = 0;  // > a
  std::vector<PairedDifference> metrics;
};

// The metrics of all methods, replicates drawn once for all of them, and the differences of each pair, (0, 1), (0, 2),
// ..., (1, 2), .... The weights of the first hold for all. Errors: those of BootstrapIntervals; kInvalidArgument where
// there are fewer than two methods, and where labels or groups differ from those of the first.
absl::StatusOr<std::vector<MethodPair>> PairedBootstrap(absl::Span<const MetricSpec> metrics,
                                                        absl::Span<const RankedInput* const> methods,
                                                        const BootstrapOptions& options);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PAIRED_BOOTSTRAP_H_
