// Two methods on the same samples.
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
  // Two-sided, of no difference: twice the smaller share of replicates whose difference lies on one side of 0 (those at
  // 0 on both), each with one added to numerator and denominator; at most 1.
  double p_value = 1;
  Verdict verdict = Verdict::kNoDetectableDifference;  // of the interval
};

// The metrics of both methods, replicates drawn once for both. The weights of `a` hold for both. Errors: those of
// BootstrapIntervals; kInvalidArgument where labels or groups of the two differ.
absl::StatusOr<std::vector<PairedDifference>> PairedBootstrap(absl::Span<const MetricSpec> metrics,
                                                              const RankedInput& a, const RankedInput& b,
                                                              const BootstrapOptions& options);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PAIRED_BOOTSTRAP_H_
