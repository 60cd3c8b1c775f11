// Metrics by their specs: names, directions and values.
#ifndef OPENSET_EVAL_METRICS_METRIC_H_
#define OPENSET_EVAL_METRICS_METRIC_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The metric's name in records, tables and JSON: MetricSpec.name if it is set, else LevelName() if the metric has a
// level, else the name of the member of MetricSpec. "" if no member is set.
std::string MetricName(const MetricSpec& spec);

// The name of a metric at a point of a curve, with the level, so that a table can have the metric at several levels:
// "fpr_at_0.8tpr", "fpr_at_0.8tpr_unknown_positive", "ccr_at_0.01fpr", "risk_at_0.9coverage", "coverage_at_0.05risk";
// over all samples "pooled_risk_at_0.9coverage" etc. The level is a share, with as few digits as identify it. "" for
// metrics without a level. Ignores MetricSpec.name.
std::string LevelName(const MetricSpec& spec);

// The metric with such a name; absent for other names.
std::optional<MetricSpec> MetricOfLevelName(absl::string_view name);

// Whether larger values are better; absent if neither direction is better (known_unknown_ratio).
std::optional<bool> HigherIsBetter(const MetricSpec& spec);

// The metric, also absent if it reads predictions and the input has none ("no predictions"), has only a loss, or
// doesn't know their classes. Without a member of the spec, one that is always absent. The caller must refuse fields
// that violate the schema: CheckMetrics() (evaluate.h).
Metric MakeMetric(const MetricSpec& spec);

// Its value.
MetricResult ComputeMetric(const MetricSpec& spec, const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_METRIC_H_
