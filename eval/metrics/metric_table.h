// The table of metrics: for each member of MetricSpec, what it needs, how it is displayed and how it is computed.
#ifndef OPENSET_EVAL_METRICS_METRIC_TABLE_H_
#define OPENSET_EVAL_METRICS_METRIC_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// A value is displayed as factor * value, with this many digits after the point, followed by the unit.
struct MetricScale {
  double factor = 1;
  const char* unit = "";  // "%", "x1000", "nats", ""
  int digits = 4;
  // The unit of the value itself: "share" (of samples, of pairs ...), "nats", "1" (a plain number).
  const char* value_unit = "1";
};

enum class MetricUse {
  kPlain,
  kJoint,           // judges the closed-set and the open-set decision in one number
  kDependsOnRatio,  // changes with the ratio of known to unknown samples, so that test sets can't be compared
};

struct MetricTraits {
  // Whether larger values are better; absent if neither direction is better (known_unknown_ratio).
  std::optional<bool> higher_is_better;
  // Whether the metric reads closed-set predictions and is absent ("no predictions") if the input has none. False for
  // metrics that separate unknown from known samples by the score alone, and for those of softmax(logits), which are
  // absent without logits.
  bool needs_prediction;
  // Whether the metric depends on unknown samples. If not, it is the same for every group of unknown samples.
  bool (*reads_unknown)(const MetricSpec& spec);
  // For a share of samples or pairs: the number of independent ones. Absent for other metrics.
  std::optional<int64_t> (*trials)(const MetricSpec& spec, const RankedInput& ranked);
  MetricUse use;
  MetricScale scale;
};

// A row of the table. Its functions get a MetricSpec in which this member is set.
struct MetricRow {
  MetricTraits traits;
  // The name, then what distinguishes variants of that name: "OSCR", "legacy".
  std::vector<std::string> (*label)(const MetricSpec& spec);
  // Precondition: the input has predictions if the metric needs them.
  MetricResult (*compute)(const MetricSpec& spec, const RankedInput& ranked);
};

// If no member is set, a row whose value is absent.
MetricRow RowOf(MetricSpec::KindCase kind);

// The metric's name in records, tables and JSON: MetricSpec.name if set; otherwise the name with its level
// (level_name.h) if it has one; otherwise the name of the member of MetricSpec. "" if no member is set.
std::string MetricName(const MetricSpec& spec);

// As its row says.
std::optional<bool> HigherIsBetter(const MetricSpec& spec);

// Absent if no member is set. The caller must refuse fields that violate the schema: CheckMetrics() (evaluate.h).
MetricResult ComputeMetric(const MetricSpec& spec, const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_METRIC_TABLE_H_
