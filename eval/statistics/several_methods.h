// Compares several methods over several tasks (Demsar 2006), and adjusts p-values of several tests.
#ifndef OPENSET_EVAL_STATISTICS_SEVERAL_METHODS_H_
#define OPENSET_EVAL_STATISTICS_SEVERAL_METHODS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace openset {

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
  double p_value = 1;     // for all methods being equal: exact if available, otherwise Iman and Davenport's
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

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_SEVERAL_METHODS_H_
