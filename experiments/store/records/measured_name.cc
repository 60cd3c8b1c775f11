#include "experiments/store/records/measured_name.h"

#include "eval/metrics/level_name.h"
#include "eval/metrics/metric.pb.h"

namespace openset {

std::string MeasuredName(const MetricRecord& metric) {
  if (!metric.spec().name().empty()) return metric.name();
  const std::string with_level = LevelName(metric.spec());
  return with_level.empty() ? metric.name() : with_level;
}

bool IsMeasured(const MetricRecord& metric, absl::string_view name) {
  return metric.name() == name || (!metric.spec().has_name() && LevelName(metric.spec()) == name);
}

}  // namespace openset
