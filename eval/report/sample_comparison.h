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

// A metric of two methods.
struct ComparedMetric {
  std::string metric;
  Display display;
  std::string a, b;  // names of the methods
  std::string test;  // "bootstrap" or "delong"
  std::optional<double> value_a, value_b;
  std::optional<double> difference;  // a - b; absent with the reason
  double low = 0, high = 0;          // its interval, of this difference alone
  // That at the level which Holm's procedure holds the pair to (HolmLevels): it leaves out 0 exactly where the verdict
  // is a difference. With one pair the same.
  AdjustedInterval adjusted;
  double standard_error = 0;  // of DeLong's
  double p_value = 1;
  double adjusted_p_value = 1;  // Holm's, over all pairs of methods by this metric and test
  std::string verdict;          // "A is better", by name, or "no detectable difference"
  std::string absent_reason;
  std::string note;  // on the interval
};

struct SampleComparison {
  std::vector<std::string> notes;
  std::string interval;  // "95 % interval (...)"
  std::vector<ComparedMetric> rows;
};

// Each pair of methods by the paired bootstrap, and by DeLong's test for auroc and openauc. `names` and `methods` are
// as long, two or more. A difference is detectable where its interval leaves out 0, among several pairs
// that at Holm's level, so where Holm's p-value is below 1 - confidence; the p-value is that of the interval. Errors:
// those of PairedBootstrap, with the names.
absl::StatusOr<SampleComparison> CompareOnSamples(const std::vector<MetricSpec>& metrics,
                                                  const std::vector<std::string>& names,
                                                  const std::vector<const RankedInput*>& methods,
                                                  const BootstrapOptions& options);

std::string FormatSampleComparison(const SampleComparison& comparison, TextFormat format);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_SAMPLE_COMPARISON_H_
