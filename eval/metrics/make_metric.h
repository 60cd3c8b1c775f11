// MetricSpec -> value.
#ifndef OPENSET_EVAL_METRICS_MAKE_METRIC_H_
#define OPENSET_EVAL_METRICS_MAKE_METRIC_H_

#include <optional>
#include <string>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The metric's name in records, tables and JSON: its own; or, with its level, that of level_name.h; or that of the
// member of MetricSpec. "" where none is set.
std::string MetricName(const MetricSpec& spec);

// Whether larger values are better; none for what is no quality (known_unknown_ratio) and where no
// member is set.
std::optional<bool> HigherIsBetter(const MetricSpec& spec);

// Whether the metric reads closed-set predictions, and is absent ("no predictions") where the input has none. Not so
// those that tell unknown from known samples by the score alone, and those of softmax(logits), which are absent
// without logits.
bool NeedsPrediction(const MetricSpec& spec);

// Absent where no member is set. Fields outside the limits of the schema are the caller's to refuse: CheckMetrics
// (evaluate.h).
MetricResult ComputeMetric(const MetricSpec& spec, const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_MAKE_METRIC_H_
