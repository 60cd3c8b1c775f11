// Exact binomial intervals (Clopper and Pearson 1934), also for metrics whose bootstrap replicates all agree.
#ifndef OPENSET_EVAL_STATISTICS_EXACT_INTERVAL_H_
#define OPENSET_EVAL_STATISTICS_EXACT_INTERVAL_H_

#include <cstdint>
#include <optional>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

struct ExactInterval {
  double low = 0;
  double high = 1;
};

// An interval for the success probability, given `successes` in `trials`, that contains it with a probability of at
// least `confidence`. Preconditions: 0 <= successes <= trials, trials > 0, 0 < confidence < 1.
ExactInterval ClopperPearson(int64_t successes, int64_t trials, double confidence);

// The one-sided form: the smallest upper bound u with P(X <= successes) <= delta for a binomial X of `trials` with
// probability u. Preconditions: as above, 0 < delta < 1.
double ClopperPearsonUpper(int64_t successes, int64_t trials, double delta);

// The interval of a metric with the value 0 or 1, for which replicates and DeLong's variance have no spread: the exact
// interval for none or all of its independent trials (MetricTraits.trials). Absent for other values and metrics.
std::optional<ExactInterval> IntervalAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double value,
                                               double confidence);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_EXACT_INTERVAL_H_
