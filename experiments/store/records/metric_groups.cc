#include "experiments/store/records/metric_groups.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"

namespace openset {
namespace {

MetricGroup OfKind(MetricGroup::Kind kind) {
  MetricGroup group;
  group.set_kind(kind);
  return group;
}

}  // namespace

std::vector<MetricGroup> MetricGroupsOf(const TaskData& data) {
  std::vector<MetricGroup> groups = {OfKind(MetricGroup::POOL)};
  if (data.test_unknown_size() < 2) return groups;
  for (const UnknownGroup& unknown : data.test_unknown()) {
    groups.push_back(OfKind(MetricGroup::SET));
    groups.back().set_set(unknown.name());
  }
  const auto has = [&](UnknownGroup::Distance distance) {
    return absl::c_any_of(data.test_unknown(), [&](const UnknownGroup& g) { return g.distance() == distance; });
  };
  if (has(UnknownGroup::NEAR)) groups.push_back(OfKind(MetricGroup::NEAR_MEAN));
  if (has(UnknownGroup::FAR)) groups.push_back(OfKind(MetricGroup::FAR_MEAN));
  return groups;
}

int CountUnknownClasses(const TaskData& data) {
  int count = 0;
  for (const UnknownGroup& group : data.test_unknown()) count += group.selection().class_id_size();
  return count;
}

std::string GroupText(const MetricGroup& group) {
  switch (group.kind()) {
    case MetricGroup::SET:
      return group.set();
    case MetricGroup::NEAR_MEAN:
      return "mean of near";
    case MetricGroup::FAR_MEAN:
      return "mean of far";
    case MetricGroup::POOL:
    case MetricGroup::KIND_UNSPECIFIED:
      break;
  }
  return kPool;
}

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
