// Converts requests to checked options and results: metrics, intervals, comparisons, thresholds.
#ifndef OPENSET_TOOLS_EVALUATION_REQUESTED_H_
#define OPENSET_TOOLS_EVALUATION_REQUESTED_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/evaluate_samples.h"
#include "eval/report/run_comparison.h"
#include "eval/report/sample_comparison.h"
#include "eval/report/threshold_report.h"
#include "eval/statistics/bootstrap.h"
#include "tools/evaluation/request.pb.h"
#include "tools/evaluation/scored_samples.h"

namespace openset {

// Unless stated otherwise, all errors are kInvalidArgument and name the flag of the field.

// Returns the request's metrics or, if it has none, those of its convention. Errors: also kNotFound for an unknown
// convention.
absl::StatusOr<std::vector<ConventionMetric>> RequestedMetrics(const EvaluationRequest& request);
// Nothing without `ci`; the options are checked in any case.
absl::StatusOr<std::optional<SampleIntervals>> RequestedIntervals(const EvaluationRequest& request);
absl::StatusOr<BootstrapOptions> RequestedBootstrap(const IntervalOptions& options);

struct ComparedSamples {
  std::string name;
  std::string source;  // for notes and errors: the file, for example
  SampleReader read;
};
// Hints of methods whose samples are the same. Errors: also those of CompareOnSamples() and of ScoreSamples(), and
// kInvalidArgument with the reasons if all metrics are absent.
absl::StatusOr<SampleComparison> RequestedComparison(const ComparisonRequest& request,
                                                     const std::vector<ComparedSamples>& methods,
                                                     const SampleReader& read_fit);

// From request.metrics, the interval's level and test_per_training.
struct RunComparisonOptions {
  std::vector<std::string> metrics;
  PairedTestOptions test;
};
absl::StatusOr<RunComparisonOptions> RequestedRunComparison(const RunComparisonRequest& request);

// A rule with the target and delta that it reads.
struct RequestedRule {
  ThresholdRule rule = ThresholdRule::kKnownAccepted;
  ChosenThreshold chosen;  // has their names; nothing is chosen yet
};
absl::StatusOr<RequestedRule> RequestedThreshold(const ThresholdRequest& request);
// Chooses the threshold on the validation samples, and measures it there. Errors name the samples `source`. Errors:
// those of SelectThreshold().
absl::StatusOr<ChosenThreshold> ChooseThreshold(const RequestedRule& rule, const ThresholdRequest& request,
                                                const std::string& source, const std::string& note,
                                                const RankedInput& validation);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_REQUESTED_H_
