// What a request asks for, checked: metrics, intervals, comparisons, thresholds.
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

// All errors are kInvalidArgument and name the flag that the field is of, where nothing else is said.

// By metrics, else by the convention. Errors: also kNotFound for a convention that is none.
absl::StatusOr<std::vector<ConventionMetric>> RequestedMetrics(const EvaluationRequest& request);
// None without ci. Errors are found without it too.
absl::StatusOr<std::optional<SampleIntervals>> RequestedIntervals(const EvaluationRequest& request);
absl::StatusOr<BootstrapOptions> RequestedBootstrap(const IntervalOptions& options);

struct ComparedSamples {
  std::string name;
  std::string source;  // the file, say: for notes and errors
  SampleReader read;
};
// Errors: also those of CompareOnSamples() and of ScoreSamples().
absl::StatusOr<SampleComparison> RequestedComparison(const ComparisonRequest& request,
                                                     const std::vector<ComparedSamples>& methods,
                                                     const SampleReader& read_fit);

// By request.metrics, the interval's level and test_per_training.
struct RunComparisonOptions {
  std::vector<std::string> metrics;
  PairedTestOptions test;
};
absl::StatusOr<RunComparisonOptions> RequestedRunComparison(const RunComparisonRequest& request);

// A rule with the target and delta that it reads.
struct RequestedRule {
  ThresholdRule rule = ThresholdRule::kKnownAccepted;
  ChosenThreshold chosen;  // names them; nothing is chosen yet
};
absl::StatusOr<RequestedRule> RequestedThreshold(const ThresholdRequest& request);
// The threshold by the validation samples, and what it does there. `source` is what errors call them. Errors: those of
// SelectThreshold().
absl::StatusOr<ChosenThreshold> ChooseThreshold(const RequestedRule& rule, const ThresholdRequest& request,
                                                const std::string& source, const std::string& note,
                                                const RankedInput& validation);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_REQUESTED_H_
