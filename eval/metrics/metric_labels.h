// The names of metrics at a point of a curve, and the labels of metrics in tables.
#ifndef OPENSET_EVAL_METRICS_METRIC_LABELS_H_
#define OPENSET_EVAL_METRICS_METRIC_LABELS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "eval/metrics/metric.pb.h"

namespace openset {

// Names of metrics at a point of a curve. They contain the level, so that a table can have the metric at several
// levels.

// "fpr_at_0.8tpr", "fpr_at_0.8tpr_unknown_positive", "ccr_at_0.01fpr", "risk_at_0.9coverage", "coverage_at_0.05risk";
// over all samples "pooled_risk_at_0.9coverage" etc. The level is a share, with as few digits as identify it. "" for
// metrics without a level. Ignores MetricSpec.name.
std::string LevelName(const MetricSpec& spec);

// The metric with such a name; absent for other names.
std::optional<MetricSpec> MetricOfLevelName(absl::string_view name);

}  // namespace openset

namespace openset::metric_labels {

// The labels of metrics in tables: what is measured, then what differs from the default.

using Label = std::vector<std::string>;

// Adds a detail if `is_set`.
Label With(Label label, bool is_set, const std::string& detail);

// "FIRST_REACHING_CORNERS" -> "first reaching corners".
std::string Words(const std::string& enumerator);
// 0.5 -> "0.5".
std::string Number(double value);
// 0.95 -> "95 %".
std::string Percent(double share);

Label AuprLabel(const std::string& positive, const AuprSpec& spec);
Label FprLabel(const std::string& positive, const FprAtTprSpec& spec);
Label NaccLabel(const std::string& form, const NaccSpec& spec);
Label DenominatorLabel(Label label, const BalancedScoreSpec& spec);
Label AurcLabel(Label label, AurcSpec::Form form);
Label AugrcLabel(Label label, AugrcSpec::Form form);
Label EceLabel(const std::string& name, const EceSpec& spec);
// "WHAT at LEVEL OF"; `pooled`: unknown samples count too.
Label RiskLabel(const std::string& what, double level, const std::string& of, bool pooled);

}  // namespace openset::metric_labels

#endif  // OPENSET_EVAL_METRICS_METRIC_LABELS_H_
