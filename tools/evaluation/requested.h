// Carries out a request to evaluate, score or compare samples, as the command and the Python package give it.
#ifndef OPENSET_TOOLS_EVALUATION_REQUESTED_H_
#define OPENSET_TOOLS_EVALUATION_REQUESTED_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "eval/files/sample_set.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/evaluate_samples.h"
#include "eval/report/evaluation_hints.h"
#include "eval/report/run_comparison.h"
#include "eval/report/sample_comparison.h"
#include "eval/report/threshold_report.h"
#include "eval/scores/score.pb.h"
#include "eval/statistics/bootstrap.h"
#include "tools/evaluation/request.pb.h"

namespace openset {

// ---- Parses metrics and scores in the syntax of flags and requests.

// Parses members of MetricSpec, separated by commas: "auroc, partial_openauc { max_ofpr: 0.1 }, early=partial_openauc {
// max_ofpr: 0.05 }". Fields that differ from their defaults are in braces; "NAME=" distinguishes metrics of the same
// kind. Synonyms are accepted ("AUC, fpr95"; core/text/synonyms.h), and so are names of metrics at a level
// ("ccr_at_0.01fpr"; eval/metrics/metric.h). An empty text means all metrics. Errors: kInvalidArgument with
// `flag` for an unknown name (with the known ones), an invalid field, or two metrics with the same name.
absl::StatusOr<std::vector<MetricSpec>> ParseMetrics(absl::string_view flag, absl::string_view text);

// Returns our name of the metric that a synonym ("fpr95") stands for; returns other names unchanged.
std::string SuggestedMetric(absl::string_view name);

// Parses "energy" or "energy { temperature: 2 }". Errors: the same.
absl::StatusOr<ScoreSpec> ParseScore(absl::string_view flag, absl::string_view text);

// ---- Reads samples and computes the unknown score that a request names.

struct ScoredSamples {
  SampleSet samples;  // with an unknown score
  std::string note;   // names the score
  ScoreOrigin origin = ScoreOrigin::kOutputs;
  // Samples that the score is fitted to (CountShared() in eval/files/same_network.h).
  int64_t shared_with_fit = 0;
};

// Reads samples from files, or from arrays in memory.
using SampleReader = std::function<absl::StatusOr<SampleSet>(const SetRoles& roles, ScoreDirection direction)>;

// Returns the samples of `read` with the score options.score; without one, with the score that the samples have,
// otherwise with max_softmax. `read_fit` reads the samples that scores are fitted to, and is called only if a score is
// computed; it may be null. A hint says if the score is fitted to samples that it is computed for. Errors:
// kInvalidArgument for an invalid options.score, for higher_is_known together with a score, and for samples that lack
// what the score needs (ApplyScore() in eval/files/apply_score.h); any error that a reader returns.
absl::StatusOr<ScoredSamples> ScoreSamples(const SampleOptions& options, const SampleReader& read,
                                           const SampleReader& read_fit);

// ---- Converts requests to checked options and results: metrics, intervals, comparisons, thresholds.

// Unless stated otherwise, all errors are kInvalidArgument and name the flag of the field.

// Returns the request's metrics or, if it has none, the metrics of its convention. Errors: also kNotFound for an
// unknown convention.
absl::StatusOr<std::vector<ConventionMetric>> RequestedMetrics(const EvaluationRequest& request);
// Nothing without `ci`; the options are checked in any case.
absl::StatusOr<std::optional<SampleIntervals>> RequestedIntervals(const EvaluationRequest& request);
absl::StatusOr<BootstrapOptions> RequestedBootstrap(const IntervalOptions& options);

// What to say before a bootstrap that takes more than about half a CPU minute: how to have it shorter; "" otherwise.
// `values`: how many numbers are computed by each replicate (samples times methods).
std::string LongBootstrapHint(int64_t values, int replicates);

struct ComparedSamples {
  std::string name;
  std::string source;  // for notes and errors: the file, for example
  SampleReader read;
  SampleReader read_fit;  // of the samples that the score is fitted to; may be null
};
// Scores the samples of all methods and compares them; hints at methods whose samples are the same. Errors:
// kInvalidArgument also if the methods' labels or groups differ, with their names, if a method has no such group, and,
// with the reasons, if all metrics are absent; as ScoreSamples().
// `baseline`: the index of the method that all others are compared with; without one, all pairs are. `say`, unless
// null, is called with LongBootstrapHint() before a long bootstrap.
absl::StatusOr<SampleComparison> RequestedComparison(const ComparisonRequest& request,
                                                     const std::vector<ComparedSamples>& methods,
                                                     std::optional<int> baseline = std::nullopt,
                                                     const std::function<void(const std::string&)>& say = nullptr);

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
// Chooses the threshold on the validation samples, and measures it there. Errors, with `source`: kInvalidArgument for a
// target or delta out of range, and for a rule with a guarantee if the score is fitted to validation samples;
// kFailedPrecondition if the samples lack what the rule needs, are too few for it, or no
// threshold meets its target (SelectThreshold() in eval/thresholds/select_threshold.h).
absl::StatusOr<ChosenThreshold> ChooseThreshold(const RequestedRule& rule, const ThresholdRequest& request,
                                                const std::string& source, const ScoredSamples& scored,
                                                const RankedInput& validation);
// Measures the threshold on test samples too, and returns hints about them. Errors: kInvalidArgument if the two sets of
// samples are outputs of two networks or, for a rule with a guarantee, if they share samples.
absl::StatusOr<std::vector<std::string>> MeasureOnTest(const SampleSet& validation, const SampleSet& test,
                                                       const RankedInput& ranked_test, ChosenThreshold* chosen);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_REQUESTED_H_
