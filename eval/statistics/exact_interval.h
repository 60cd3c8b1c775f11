// Exact binomial intervals (Clopper and Pearson 1934), and what they say where every replicate of a bootstrap agrees.
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

// Of the probability behind `successes` of `trials`: holds it with at least `confidence`, whatever it is.
// Preconditions: 0 <= successes <= trials, trials > 0, 0 < confidence < 1.
ExactInterval ClopperPearson(int64_t successes, int64_t trials, double confidence);

// The smallest upper bound u with P(X <= successes) <= delta for X binomial of `trials` and u: the one-sided form.
// Preconditions: as above, 0 < delta < 1.
double ClopperPearsonUpper(int64_t successes, int64_t trials, double delta);

// How many independent trials stand behind a metric that is a share of samples or of pairs: known samples for accuracy,
// those of the negative side for false positive rates, the smaller side where it is a mean over pairs (as many
// independent pairs can be made). None for other metrics.
std::optional<int64_t> IndependentTrials(const MetricSpec& metric, const RankedInput& ranked);

// The interval of a metric of value 0 or 1, where neither replicates nor DeLong's variance have any spread: that of
// 0 or all of its independent trials. None for other values and metrics.
std::optional<ExactInterval> IntervalAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double value,
                                               double confidence);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_EXACT_INTERVAL_H_
