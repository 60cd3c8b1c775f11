#include "eval/metrics/display.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/proto/traits.h"
#include "eval/metrics/metric.h"

namespace openset {
namespace {

// As in Display.
struct Scale {
  double factor;
  const char* unit;
  int digits;
  const char* value_unit;
};

Scale ScaleOf(Traits::Shown shown) {
  switch (shown) {
    case Traits::PERCENT:
      return {100, "%", 2, "share"};
    case Traits::THOUSANDTHS:
      return {1000, "x1000", 2, "share"};
    case Traits::NATS:
      return {1, "nats", 4, "nats"};
    case Traits::NUMBER:
      break;
  }
  return {1, "", 4, "1"};
}

}  // namespace

Display DisplayOf(const MetricSpec& metric) {
  std::vector<std::string> label = MakeMetric(metric).label;
  Display display;
  display.label = std::move(label[0]);
  label.erase(label.begin());
  if (!label.empty()) absl::StrAppend(&display.label, " (", absl::StrJoin(label, ", "), ")");
  if (!metric.name().empty()) display.label = metric.name();
  const Traits traits = TraitsOf(metric);
  const Scale scale = ScaleOf(traits.shown());
  display.factor = scale.factor;
  display.unit = scale.unit;
  display.digits = scale.digits;
  display.value_unit = scale.value_unit;
  display.higher_is_better = HigherIsBetter(metric);
  display.reads_unknown = traits.unknown_samples();
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
