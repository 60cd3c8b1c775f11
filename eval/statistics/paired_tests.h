// Two methods over several runs (splits, seeds), paired by run.
#ifndef OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_
#define OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/statistics/verdict.h"

namespace openset {

struct PairedTest {
  int runs = 0;
  double mean_difference = 0;  // a - b
  // Effect sizes: mean / standard deviation of the differences (Cohen's d_z; 0 where all are 0, infinite where all are
  // the same), and (W+ - W-) / (W+ + W-) (matched-pairs rank-biserial; 0 where all are 0).
  double cohen_dz = 0;
  double rank_biserial = 0;
  // Student's t interval of the mean difference and two-sided p of the paired t test.
  double low = 0;
  double high = 0;
  double t_p_value = 1;
  // Two-sided p of Wilcoxon's signed rank test, differences of 0 left out. Exact for at most 50 differences without
  // ties, else normal with the correction for ties and none for continuity (as scipy.stats.wilcoxon).
  double wilcoxon_p_value = 1;
  Verdict verdict = Verdict::kNoDetectableDifference;  // of the t interval
};

// `a` and `b` [runs]: a metric of each run. Errors, kInvalidArgument: lengths that disagree, fewer than 2 runs, a value
// that is not finite (with its run), a confidence that is not in (0, 1).
absl::StatusOr<PairedTest> ComparePairedRuns(absl::Span<const double> a, absl::Span<const double> b,
                                             double confidence = 0.95);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_PAIRED_TESTS_H_
