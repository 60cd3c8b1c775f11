#include "eval/metrics/display.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "eval/metrics/metric_table.h"

namespace openset {

Display DisplayOf(const MetricSpec& metric) {
  const MetricRow row = RowOf(metric.kind_case());
  std::vector<std::string> label = row.label(metric);
  Display display;
  display.label = std::move(label[0]);
  label.erase(label.begin());
  if (!label.empty()) absl::StrAppend(&display.label, " (", absl::StrJoin(label, ", "), ")");
  if (!metric.name().empty()) display.label = metric.name();
  const MetricScale& scale = row.traits.scale;
  display.factor = scale.factor;
  display.unit = scale.unit;
  display.digits = scale.digits;
  display.value_unit = scale.value_unit;
  display.higher_is_better = row.traits.higher_is_better;
  display.reads_unknown = row.traits.reads_unknown(metric);
  return display;
}

std::string Shown(double value, const Display& display) {
  return absl::StrFormat("%.*f", display.digits, display.factor * value);
}

std::string LabelWithUnit(const Display& display) {
  return display.unit.empty() ? display.label : absl::StrCat(display.label, ", ", display.unit);
}

std::string BetterText(const Display& display) {
  if (!display.higher_is_better.has_value()) return "";
  return *display.higher_is_better ? "higher" : "lower";
}

}  // namespace openset
