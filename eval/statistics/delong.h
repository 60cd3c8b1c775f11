// DeLong's closed form for the variance of AUROC and OpenAUC (DeLong et al. 1988; Sun and Xu 2014 for the O(N log N)).
#ifndef OPENSET_EVAL_STATISTICS_DELONG_H_
#define OPENSET_EVAL_STATISTICS_DELONG_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Both are two-sample U-statistics: the mean over pairs of a known sample k and an unknown sample u of
// w_k (1[r_u > r_k] + 1[r_u = r_k] / 2), with w_k = 1 for AUROC and w_k = 1[k is classified correctly] for OpenAUC.
enum class PairStatistic { kAuroc, kOpenAuc };

// The statistic that equals the metric; absent if there is none.
std::optional<PairStatistic> PairStatisticOf(const MetricSpec& metric);

struct NormalInterval {
  double value = 0;
  double standard_error = 0;
  double low = 0;  // logit(value) -+ z * standard_error / (value (1 - value)), transformed back
  double high = 0;
  std::string note;  // if the interval is Clopper and Pearson's
};

// The variance is the variance of the known samples' means over pairs divided by their number, plus the same for the
// unknown samples. If all pairs agree it is 0; the interval is then a point or, at the value 0 or 1, Clopper and
// Pearson's for as many pairs as the smaller side has samples. Ignores weights. Errors: kFailedPrecondition for samples
// in clusters, which are not independent, for fewer than two known or two unknown samples and, except for kAuroc,
// without predictions; kInvalidArgument for a confidence outside (0, 1).
absl::StatusOr<NormalInterval> DeLongInterval(const RankedInput& ranked, PairStatistic statistic,
                                              double confidence = 0.95);

struct DeLongComparison {
  double value_a = 0;
  double value_b = 0;
  double difference = 0;  // a - b
  double standard_error = 0;
  double low = 0;  // of the difference
  double high = 0;
  double p_value = 1;  // two-sided, of no difference; with a standard error of 0: 1 without a difference, else 0
};

// Compares two scores of the same samples. Errors: as above; kInvalidArgument if their labels differ.
absl::StatusOr<DeLongComparison> DeLongPaired(const RankedInput& a, const RankedInput& b, PairStatistic statistic,
                                              double confidence = 0.95);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_DELONG_H_
