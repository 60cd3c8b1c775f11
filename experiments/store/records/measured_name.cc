#include "experiments/store/records/measured_name.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/names/level_name.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {

std::string MeasuredName(const MetricRecord& metric) {
  if (!metric.spec().name().empty()) return metric.name();
  const std::string with_level = LevelName(metric.spec());
  return with_level.empty() ? metric.name() : with_level;
}

std::string MeasuredNameInGroup(const MetricRecord& metric) {
  const std::string group = metric.has_group() ? GroupText(metric.group()) : kPool;
  return group == kPool ? MeasuredName(metric) : absl::StrCat(MeasuredName(metric), " of ", group);
}

bool IsMeasured(const MetricRecord& metric, absl::string_view name) {
  if (metric.name() == name) return true;
  // A quick check first: most names have no level, and a report asks for each metric of 100,000 records.
  return absl::StrContains(name, "_at_") && !metric.spec().has_name() && LevelName(metric.spec()) == name;
}

}  // namespace openset
