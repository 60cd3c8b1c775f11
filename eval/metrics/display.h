// How the numbers of a metric are shown: the one table that all commands and reports use.
#ifndef OPENSET_EVAL_METRICS_DISPLAY_H_
#define OPENSET_EVAL_METRICS_DISPLAY_H_

#include <optional>
#include <string>

#include "eval/metrics/metric.pb.h"

namespace openset {

struct Display {
  // What the number is, with the convention where the field has several, and with what the spec sets apart from the
  // defaults: "AUROC", "FPR95 (known positive)", "OSCR (legacy)". The spec's own name where it has one. ASCII.
  std::string label;
  // shown = factor * value, with so many digits behind the point and the unit behind it.
  double factor = 1;
  std::string unit;  // "%", "x1000", "nats", ""
  int digits = 4;
  // The unit of the value itself: "share" (of samples, of pairs ...), "nats", "1" (a plain number).
  std::string value_unit = "1";
  // Absent for what is no quality (known_unknown_ratio).
  std::optional<bool> higher_is_better;
  // Whether unknown samples play a part. If not the metric is the same for every set of unknown samples.
  bool reads_unknown = true;
};

// Precondition: the spec has a member.
Display DisplayOf(const MetricSpec& metric);

// "71.05": scaled and rounded, without the unit. Also for differences and standard deviations of values.
std::string Shown(double value, const Display& display);

// "AUROC, %", "AURC, x1000", "known : unknown": for the head of a column.
std::string LabelWithUnit(const Display& display);

// "higher", "lower", or "" for what is no quality.
std::string BetterText(const Display& display);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DISPLAY_H_
