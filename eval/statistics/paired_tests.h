// Compares two methods over several runs, paired by run. Runs of one split are a cluster, not independent replicates.
#ifndef OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_
#define OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/statistics/verdict.h"

namespace openset {

// The fewest replicates for a verdict. With two replicates, Student's t has one degree of freedom: its quantile is 12.7
// standard errors, and a difference that exceeds it is mostly due to two numbers being accidentally alike.
inline constexpr int kFewestReplicates = 3;

struct PairedTestOptions {
  double confidence = 0.95;
  // The number of test samples divided by that of training samples, r, if all splits are drawn from the same samples:
  // the variance of a mean over S splits is then (1 / S + r) times that of a split (Nadeau and Bengio 2003). 0 means
  // that splits are independent.
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

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_
