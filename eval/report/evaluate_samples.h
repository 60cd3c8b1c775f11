// Evaluates samples for the report of `openset eval`.
#ifndef OPENSET_EVAL_REPORT_EVALUATE_SAMPLES_H_
#define OPENSET_EVAL_REPORT_EVALUATE_SAMPLES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/files/sample_set.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/evaluation_report.h"
#include "eval/statistics/bootstrap.h"

namespace openset {

struct SampleIntervals {
  BootstrapOptions bootstrap;
  // In place of the bootstrap DeLong's closed form, for the metrics that have one; not for sets of unknown samples.
  bool delong = false;
};

// Each metric as its convention prints it (offset + factor * value, and so its interval and direction), of all samples,
// of each set of unknown samples, of the means over near and far ones and of each set of known samples; where
// pooled_aurc is among the metrics and there are unknown samples, what each set contributes to it. `ranked` is that of
// `samples`, unweighted. Without notes. Errors: those of Evaluate() and of BootstrapIntervals().
absl::StatusOr<EvaluationReport> EvaluateSamples(absl::Span<const ConventionMetric> metrics, const SampleSet& samples,
                                                 const RankedInput& ranked,
                                                 const std::optional<SampleIntervals>& intervals);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_EVALUATE_SAMPLES_H_
