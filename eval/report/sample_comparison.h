// Two or more methods on the same samples.
#ifndef OPENSET_EVAL_REPORT_SAMPLE_COMPARISON_H_
#define OPENSET_EVAL_REPORT_SAMPLE_COMPARISON_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/document.h"
#include "eval/statistics/bootstrap.h"

namespace openset {

// A metric compared between two methods.
struct ComparedMetric {
  std::string metric;
  Display display;
  std::string a, b;  // names of the methods
  std::string test;  // "bootstrap" or "delong"
  std::optional<double> value_a, value_b;
  std::optional<double> difference;  // a - b; absent with the reason
  double low = 0, high = 0;          // the interval of this difference alone
  // The interval at Holm's level of the pair (HolmLevels). It excludes 0 exactly if the verdict is a difference. Equal
  // to the interval above if there is one pair.
  AdjustedInterval adjusted;
  double standard_error = 0;  // of the difference
  double detectable = 0;  // the smallest difference that a z test at the first of Holm's levels finds in 4 of 5 studies
  double p_value = 1;
  double adjusted_p_value = 1;  // Holm's, over all pairs of methods by this metric and test
  std::string verdict;          // "A is better", by name, or "no detectable difference"
  std::string absent_reason;
  std::string note;  // on the interval
};

struct SampleComparison {
  std::vector<std::string> names;  // of the methods
  std::vector<std::string> notes;
  double confidence = 0.95;
  std::string interval;  // "95 % interval (...)"
  std::vector<ComparedMetric> rows;
  std::vector<std::string> hints;  // what may be wrong with the samples
};

// Compares each pair of methods by the paired bootstrap, and by DeLong's test for auroc and openauc (not of samples in
// clusters); with a `baseline`, the index of a method, only the pairs with it, as its difference from the other.
// `names` and `methods` have the same length, at least two. A difference is detectable if its interval (with several
// pairs, at Holm's level) excludes 0, that is, if Holm's p-value is below 1 - confidence. The p-value belongs to the
// interval. `prefer_delong`: metrics that have DeLong's test have no bootstrap, which takes minutes for a million
// samples. Errors, with the names: kInvalidArgument for metrics that CheckMetrics() or options that CheckOptions()
// refuses, or if the methods' labels or groups differ.
absl::StatusOr<SampleComparison> CompareOnSamples(const std::vector<MetricSpec>& metrics,
                                                  const std::vector<std::string>& names,
                                                  const std::vector<const RankedInput*>& methods,
                                                  const BootstrapOptions& options,
                                                  std::optional<int> baseline = std::nullopt,
                                                  bool prefer_delong = false);

// Text, Markdown and LaTeX end with a sentence for each metric and pair, if there are few; kSentence has only these.
std::string FormatSampleComparison(const SampleComparison& comparison, TextFormat format);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_SAMPLE_COMPARISON_H_
