// Computes an interval and a p-value from bootstrap replicates by the same rule, so that they never disagree.
#ifndef OPENSET_EVAL_STATISTICS_REPLICATE_INTERVAL_H_
#define OPENSET_EVAL_STATISTICS_REPLICATE_INTERVAL_H_

#include <string>

#include "absl/types/span.h"

namespace openset {

enum class IntervalMethod {
  // Quantiles of the replicates.
  kPercentile,
  // Bias-corrected and accelerated (Efron 1987). The acceleration is from a jackknife that leaves out one sample, or
  // one of 200 parts of a larger stratum.
  kBca,
};

struct ReplicateInterval {
  double low = 0;
  double high = 0;
  // Two-sided, of no difference from 0: 1 - the confidence of the interval that just ends at 0, so it is below
  // 1 - confidence exactly if this interval excludes 0. In that case, if fewer than 10 replicates lie on the other side
  // of 0, their share is replaced by the tail of the normal distribution with the replicates' mean and standard
  // deviation, if that is smaller. The p-value may thus be below 2 / (replicates + 1), the least that counting can
  // give.
  double p_value = 1;
  std::string note;  // the deviation from the request, if any
  // The interval at the adjusted confidence. It excludes 0 exactly if p_value is below 1 - that confidence, because
  // both use the normal distribution if the replicates are too few.
  double adjusted_low = 0;
  double adjusted_high = 0;
};

// `sorted`: the replicates, ascending, not empty. If kBca excludes the estimate, falls back to kPercentile, with a
// note; an interval that still excludes it is widened to include it. `acceleration` is only used for kBca.
// Preconditions: 0 < confidence < 1; adjusted_confidence is at least that and below 1, or 0 for `confidence`.
ReplicateInterval IntervalOfReplicates(absl::Span<const double> sorted, double estimate, double acceleration,
                                       IntervalMethod method, double confidence, double adjusted_confidence = 0);

// The q-quantile of ascending values, with linear interpolation (NumPy's default). Preconditions: not empty, 0 <= q
// <= 1.
double SortedQuantile(absl::Span<const double> sorted, double q);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_REPLICATE_INTERVAL_H_
