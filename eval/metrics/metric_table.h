// The table of metrics: for each member of MetricSpec, what it needs, how it is shown and how it is computed.
#ifndef OPENSET_EVAL_METRICS_METRIC_TABLE_H_
#define OPENSET_EVAL_METRICS_METRIC_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// A value is shown as factor * value, with so many digits after the point and the unit after it.
struct MetricScale {
  double factor = 1;
  const char* unit = "";  // "%", "x1000", "nats", ""
  int digits = 4;
  const char* value_unit =
      "1";  // of the value itself: "share" (of samples, of pairs ...), "nats", "1" (a plain number)
};

struct MetricTraits {
  // Whether larger values are better; none for what is no quality (known_unknown_ratio).
  std::optional<bool> higher_is_better;
  // Whether the metric reads closed-set predictions, and is absent ("no predictions") where the input has none. Not so
  // those that tell unknown from known samples by the score alone, and those of softmax(logits), which are absent
  // without logits.
  bool needs_prediction;
  // Whether unknown samples play a part. If not, the metric is the same for every set of unknown samples.
  bool (*reads_unknown)(const MetricSpec& spec);
  MetricScale scale;
};

// A row. The functions get a MetricSpec with this member.
struct MetricRow {
  MetricTraits traits;
  // The name, then what tells the number from others of that name: "OSCR", "legacy".
  std::vector<std::string> (*label)(const MetricSpec& spec);
  // Precondition: the input has predictions if the metric needs them.
  MetricResult (*compute)(const MetricSpec& spec, const RankedInput& ranked);
};

// If no member is set, a row whose value is absent.
MetricRow RowOf(MetricSpec::KindCase kind);

// The metric's name in records, tables and JSON: its own; or, with its level, that of level_name.h; or that of the
// member of MetricSpec. "" if none is set.
std::string MetricName(const MetricSpec& spec);

// By the traits of its row.
std::optional<bool> HigherIsBetter(const MetricSpec& spec);
bool NeedsPrediction(const MetricSpec& spec);

// Absent if no member is set. Fields outside the limits of the schema are the caller's to refuse: CheckMetrics
// (evaluate.h).
MetricResult ComputeMetric(const MetricSpec& spec, const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_METRIC_TABLE_H_
