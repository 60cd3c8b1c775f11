// Names of metrics at a point of a curve. They contain the level, so that a table can have the metric at several
// levels.
#ifndef OPENSET_EVAL_METRICS_NAMES_LEVEL_NAME_H_
#define OPENSET_EVAL_METRICS_NAMES_LEVEL_NAME_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "eval/metrics/metric.pb.h"

namespace openset {

// "fpr_at_0.8tpr", "fpr_at_0.8tpr_unknown_positive", "ccr_at_0.01fpr", "risk_at_0.9coverage", "coverage_at_0.05risk";
// over all samples "pooled_risk_at_0.9coverage" etc. The level is a share, with as few digits as identify it. "" for
// metrics without a level. Ignores MetricSpec.name.
std::string LevelName(const MetricSpec& spec);

// The metric with such a name; absent for other names.
std::optional<MetricSpec> MetricOfLevelName(absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_NAMES_LEVEL_NAME_H_
