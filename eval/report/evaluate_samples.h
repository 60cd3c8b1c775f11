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
  // Uses DeLong's closed form instead of the bootstrap for the metrics that have one; not for sets of unknown samples.
  bool delong = false;
};

// Computes each metric as its convention prints it (offset + factor * value; likewise the interval and the direction),
// for all samples, each set of unknown samples, the means over near and far sets, and each set of known samples. If
// pooled_aurc is among the metrics and there are unknown samples, also computes each set's contribution to it. `ranked`
// is `samples` ranked, unweighted. The report has no notes. Errors: kInvalidArgument for metrics that CheckMetrics()
// refuses, or options that CheckOptions() refuses.
absl::StatusOr<EvaluationReport> EvaluateSamples(absl::Span<const ConventionMetric> metrics, const SampleSet& samples,
                                                 const RankedInput& ranked,
                                                 const std::optional<SampleIntervals>& intervals);

}  // namespace openset

#endif  // OPENSET_EVAL_REPORT_EVALUATE_SAMPLES_H_
