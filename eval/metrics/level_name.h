// Names of the metrics at a point of a curve: the level is part of the name, so that one table has several of a kind.
#ifndef OPENSET_EVAL_METRICS_LEVEL_NAME_H_
#define OPENSET_EVAL_METRICS_LEVEL_NAME_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "eval/metrics/metric.pb.h"

namespace openset {

// "fpr_at_0.8tpr", "fpr_at_0.8tpr_unknown_positive", "ccr_at_0.01fpr", "risk_at_0.9coverage", "coverage_at_0.05risk",
// of all samples "pooled_risk_at_0.9coverage" and so on. The level is a share, in as few digits as tell it apart; ""
// for metrics without one. MetricSpec.name is not looked at.
std::string LevelName(const MetricSpec& spec);

// The metric of such a name; none for other names.
std::optional<MetricSpec> MetricOfLevelName(absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_LEVEL_NAME_H_
