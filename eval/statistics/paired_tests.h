// Compares methods: over several runs, over several tasks, and on the same samples by a bootstrap.
#ifndef OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_
#define OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"
#include "eval/statistics/bootstrap.h"

namespace openset {

// ---- The verdict of a comparison of two methods.

// Which of two methods has the larger value. The metric determines whether larger is better.
enum class Verdict { kNoDetectableDifference, kALarger, kBLarger };

// The verdict for a confidence interval of a - b: no detectable difference if it contains 0.
inline Verdict VerdictOf(double low, double high) {
  if (low > 0) return Verdict::kALarger;
  if (high < 0) return Verdict::kBLarger;
  return Verdict::kNoDetectableDifference;
}

// ---- Ranks with ties averaged.

struct MidRanks {
  std::vector<double> rank;  // [N], 1 for the smallest value; equal values share the mean of their ranks
  double tie_cubes = 0;      // sum over sets of t equal values of t^3 - t: 0 without ties
};

// Precondition: no NaN.
MidRanks MidRanksOf(absl::Span<const double> values);

// Compares two methods over several runs, paired by run. Runs of one split are a cluster, not independent replicates.

// The fewest replicates for a verdict. With two replicates, Student's t has one degree of freedom: its quantile is 12.7
// standard errors, and a difference that exceeds it is mostly due to two numbers being accidentally alike.
inline constexpr int kFewestReplicates = 3;

struct PairedTestOptions {
  double confidence = 0.95;
  // The number of test samples for each training sample, r, if all splits are drawn from the same samples: the variance
  // of a mean over S splits is then (1 / S + r) times the variance of a split (Nadeau and Bengio 2003). 0 means that
  // splits are independent.
  double test_per_training = 0;
};

// How the differences of the runs vary. Differences are equal if they differ by at most 2^-40 of the largest value.
enum class Differences {
  kVary,
  kSame,  // all are equal, but not 0: there is no spread to divide by, so Student's t is undefined
  kZero,  // all are 0
};

// Tests of two methods' differences a - b. With two or more splits, a replicate is the mean over a split's seeds. With
// one split, it is a seed, and all results are for that split only.
struct PairedTest {
  int runs = 0;
  int splits = 0;
  int replicates = 0;
  Differences differences = Differences::kZero;
  double mean_difference = 0;  // of the replicates
  // Effect sizes over the replicates: mean / standard deviation (Cohen's d_z; 0 if all are 0, infinite if all are
  // equal), and (W+ - W-) / (W+ + W-) (matched-pairs rank-biserial; 0 if all are 0).
  double cohen_dz = 0;
  double rank_biserial = 0;
  // The interval mean_difference -+ t * standard_error, where t is the quantile of Student's distribution with
  // replicates - 1 degrees of freedom, and the two-sided p-value of no difference. The squared standard error is, in
  // closed form, the limit of a hierarchical bootstrap of splits, and of seeds within them, with the splits' deviations
  // shrunk so that both levels together vary as the data do (Davison and Hinkley 1997, 3.8): the larger of the variance
  // of the split means and the mean over splits of the variance of a split's mean over its seeds, divided by the number
  // of splits, times Nadeau and Bengio's factor. It includes the noise of test samples, because runs vary by it.
  // (hierarchical_bootstrap_test.cc shows that drawing gives this standard error, and that quantiles of the draws,
  // instead of Student's, find a difference in a third of all studies of 2 splits without one.) There is no p-value
  // with Differences::kSame, because there is no variance to test with; Wilcoxon's is exact then too.
  double standard_error = 0;
  double low = 0;
  double high = 0;
  std::optional<double> p_value;
  // Two-sided p-value of Wilcoxon's signed rank test over the replicates, without differences of 0: from the
  // permutation distribution (with ties) for at most 50 differences, otherwise from the normal approximation, corrected
  // for ties but not for continuity.
  double wilcoxon_p_value = 1;
  // By the interval; no difference with fewer than kFewestReplicates, or without a p-value.
  Verdict verdict = Verdict::kNoDetectableDifference;
};

// `a`, `b`, `split` [runs]: the two methods' values of a metric, and the split, of each run. Errors, kInvalidArgument:
// lengths that disagree, fewer than 2 runs, a value that is not finite (with its run), a confidence that is not in (0,
// 1), a test_per_training that is negative or not finite.
absl::StatusOr<PairedTest> ComparePairedRuns(absl::Span<const double> a, absl::Span<const double> b,
                                             absl::Span<const int> split, const PairedTestOptions& options = {});

// ---- Compares several methods over several tasks (Demsar 2006), and adjusts p-values of several tests.

struct FriedmanTest {
  std::vector<double> mean_rank;   // one for each method; 1 = best
  double chi_squared = 0;          // Friedman's, with the correction for ties
  double chi_squared_p_value = 1;  // k - 1 degrees of freedom: too large for few tasks
  // (n - 1) chi_squared / (n (k - 1) - chi_squared), k - 1 and (k - 1) (n - 1) degrees of freedom (Iman and Davenport
  // 1980); infinite if all n tasks have the same ranks; the p-value is then k!^(1 - n).
  double iman_davenport = 0;
  double iman_davenport_p_value = 1;
  // The exact p-value over all orders of each task's ranks, for few tasks and methods.
  std::optional<double> exact_p_value;
  // Of the hypothesis that all methods are equal: the exact one if there is one. Otherwise 19,999 random orders are
  // drawn from the stream (0, "friedman"), and it is (1 + the number with at least this chi-squared) / 20,000.
  double p_value = 1;
  bool rejected = false;  // p_value < alpha; otherwise there are no bars and no verdicts on pairs
  double kendall_w = 0;   // effect size: agreement of the tasks, in [0, 1]
  // Mean ranks that differ by less than this are not significantly different at `alpha` (Nemenyi 1963):
  // q / sqrt(2) * sqrt(k (k + 1) / (6 n)), q the quantile of the studentized range of k with infinite degrees of
  // freedom.
  double critical_difference = 0;
  std::vector<std::vector<double>> nemenyi_p_value;  // [k][k], of each pair
  // For a critical-difference diagram: the methods by mean rank, and bars over methods that are not significantly
  // different, as first and last index in that order. Only maximal bars over two or more methods; one bar over all
  // without a rejection.
  std::vector<int> by_rank;
  struct Bar {
    int first = 0;
    int last = 0;
  };
  std::vector<Bar> bars;
};

// `value[task][method]`. Errors, kInvalidArgument: fewer than 2 tasks or 2 methods, rows of different lengths, a value
// that is not finite (with its task and method), alpha not in (0, 1).
absl::StatusOr<FriedmanTest> CompareMethods(const std::vector<std::vector<double>>& value, bool higher_is_better,
                                            double alpha = 0.05);

// Holm's step-down adjustment (1979): p-values that can each be compared with alpha, while the probability of any false
// rejection is at most alpha. In the order of the input. Precondition: all in [0, 1].
std::vector<double> HolmAdjusted(absl::Span<const double> p_values);

// The level that Holm's procedure compares each p-value with. In ascending order of the p-values, it is alpha / (the
// number of tests not yet rejected); after the first that is not rejected, all others have the same level. A p-value is
// below its level exactly if HolmAdjusted() is below alpha, so that the interval of confidence 1 - level then excludes
// no difference. In the order of the input. Preconditions: all in [0, 1], 0 < alpha < 1.
std::vector<double> HolmLevels(absl::Span<const double> p_values, double alpha);

// ---- Compares methods on the same samples by a bootstrap.

struct PairedDifference {
  std::optional<double> value_a;
  std::optional<double> value_b;
  IntervalValue difference;  // a - b
  // The two-sided p-value of no difference, by inverting the interval (intervals.h).
  double p_value = 1;
  Verdict verdict = Verdict::kNoDetectableDifference;  // by the interval or, equivalently, the p-value
  // The interval at Holm's level of the p-value among all pairs by this metric (HolmLevels()); equal to the interval
  // above if there is one pair.
  AdjustedInterval adjusted;
};

// Two methods of a list.
struct MethodPair {
  int a = 0;
  int b = 0;  // > a
  std::vector<PairedDifference> metrics;
};

// The metrics of all methods, with the same replicates, and the differences of each pair, (0, 1), (0, 2), ..., (1, 2),
// ...; with a `baseline`, an index of a method, of the pairs with it alone. Without metrics, nothing is drawn. The
// weights of the first method are used for all. Errors: kInvalidArgument for metrics that CheckMetrics() or options
// that CheckOptions() refuses, if there are fewer than two methods, or if a method's labels or groups differ from the
// first one's.
absl::StatusOr<std::vector<MethodPair>> PairedBootstrap(absl::Span<const MetricSpec> metrics,
                                                        absl::Span<const RankedInput* const> methods,
                                                        const BootstrapOptions& options,
                                                        std::optional<int> baseline = std::nullopt);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_
