// Confidence intervals and p-values: the distribution functions, exact binomial intervals, and intervals of bootstrap
// replicates.
#ifndef OPENSET_EVAL_STATISTICS_INTERVALS_H_
#define OPENSET_EVAL_STATISTICS_INTERVALS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Distribution functions for the statistical tests, accurate to about 1e-12: Boost.Math's, and the studentized range,
// which it lacks.

// P(Z <= z) of the standard normal distribution.
double NormalCdf(double z);
// Its inverse; -inf and inf at 0 and 1. Precondition: 0 <= p <= 1.
double NormalQuantile(double p);

// P(|T| >= |t|) of Student's t distribution. Precondition: degrees_of_freedom > 0.
double StudentTTwoSidedTail(double t, double degrees_of_freedom);
// t with P(|T| >= t) = p. Preconditions: 0 < p <= 1, degrees_of_freedom > 0.
double StudentTTwoSidedQuantile(double p, double degrees_of_freedom);

// P(X >= x) of the chi-squared distribution. Preconditions: x >= 0, degrees_of_freedom > 0.
double ChiSquaredTail(double x, double degrees_of_freedom);

// P(F >= x) of Fisher's F distribution. Preconditions: x >= 0 or inf, df1, df2 > 0.
double FisherTail(double x, double df1, double df2);

// x with P(X <= x) = p of the beta distribution. Preconditions: 0 <= p <= 1, a, b > 0.
double BetaQuantile(double p, double a, double b);

// P(range of `groups` standard normal variables >= q): the studentized range with infinite degrees of freedom.
// Preconditions: q >= 0, groups >= 2.
double NormalRangeTail(double q, int groups);
// Its inverse. Preconditions: 0 < p < 1, groups >= 2.
double NormalRangeQuantile(double p, int groups);

// ---- Exact binomial intervals (Clopper and Pearson 1934), also for metrics whose bootstrap replicates all agree, and
// ---- of samples in clusters.

struct ExactInterval {
  double low = 0;
  double high = 1;
};

// An interval for the success probability, given `successes` in `trials`, that contains it with a probability of at
// least `confidence`. Preconditions: 0 <= successes <= trials, trials > 0, 0 < confidence < 1.
ExactInterval ClopperPearson(int64_t successes, int64_t trials, double confidence);

// A share of samples that belong together in clusters: in each, `part` of `all` samples.
struct ClusterCount {
  int64_t part = 0;
  int64_t all = 0;
};
// The interval of the share, sum of `part` / sum of `all`, if clusters are independent draws and samples of one are
// not: Clopper and Pearson's for the effective number of samples (Korn and Graubard 1998),
//     share (1 - share) / V (t(n - 1) / t(clusters - 1))^2, at most n,
// with V = c / (c - 1) sum_j (part_j - share all_j)^2 / n^2 over the c clusters with samples, and t(f) the quantile of
// Student's t with f degrees of freedom. At the shares 0 and 1 each cluster counts as one sample. ClopperPearson() if
// every cluster has one sample; 0 to 1 for one cluster. Preconditions: 0 <= part <= all, some cluster has a sample,
// 0 < confidence < 1.
ExactInterval ClusteredInterval(absl::Span<const ClusterCount> clusters, double confidence);

// The one-sided form: the smallest upper bound u with P(X <= successes) <= delta for a binomial X of `trials` with
// probability u. Preconditions: as above, 0 < delta < 1.
double ClopperPearsonUpper(int64_t successes, int64_t trials, double delta);

// The interval of a metric with the value 0 or 1, for which replicates and DeLong's variance have no spread: the exact
// interval for none or all of its independent trials (Metric.trials). Absent for other values and metrics.
std::optional<ExactInterval> IntervalAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double value,
                                               double confidence);

// ---- Computes an interval and a p-value from bootstrap replicates by the same rule, so that they never disagree.

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
  double standard_error = 0;  // the standard deviation of the replicates
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

#endif  // OPENSET_EVAL_STATISTICS_INTERVALS_H_
