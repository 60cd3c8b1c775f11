// How the values of a metric are displayed, in all commands and reports.
#ifndef OPENSET_EVAL_METRICS_DISPLAY_H_
#define OPENSET_EVAL_METRICS_DISPLAY_H_

#include <optional>
#include <string>

#include "eval/metrics/metric.pb.h"

namespace openset {

struct Display {
  // The metric's label, with the convention if there are several, and with settings of the spec that differ from the
  // defaults: "AUROC", "FPR95 (known positive)", "OSCR (legacy)". The spec's own name if it has one. ASCII.
  std::string label;
  // shown = factor * value, with this many digits after the point, followed by the unit.
  double factor = 1;
  std::string unit;  // "%", "x1000", "nats", ""
  int digits = 4;
  // The unit of the value itself: "share" (of samples, of pairs ...), "nats", "1" (a plain number).
  std::string value_unit = "1";
  // Absent if neither direction is better (known_unknown_ratio).
  std::optional<bool> higher_is_better;
  // Whether the metric depends on unknown samples. If not, it is the same for every group of unknown samples.
  bool reads_unknown = true;
};

// Precondition: the spec has a member.
Display DisplayOf(const MetricSpec& metric);

// "71.05": scaled and rounded, without the unit. Also for differences and standard deviations of values.
std::string Shown(double value, const Display& display);

// The header of a column: "AUROC, %", "AURC, x1000", "known : unknown".
std::string LabelWithUnit(const Display& display);

// The better direction: "higher", "lower", or "" if neither is better.
std::string BetterText(const Display& display);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DISPLAY_H_
