#include "experiments/report/tidy.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

// The swept fields of all trials, in order of appearance.
std::vector<std::string> AxisNames(absl::Span<const TrialResult> results) {
  std::vector<std::string> names;
  for (const TrialResult& result : results) {
    for (const AxisValue& axis : result.trial->axis()) {
      if (std::find(names.begin(), names.end(), axis.name()) == names.end()) names.push_back(axis.name());
    }
  }
  return names;
}

// A swept field with the name of a column gets a prefix.
std::string ColumnName(const std::string& axis, const std::vector<std::string>& fixed) {
  return std::find(fixed.begin(), fixed.end(), axis) == fixed.end() ? axis : absl::StrCat("axis_", axis);
}

// The number of samples of a row's group and of all known ones; empty for means over groups.
std::vector<std::string> SampleColumns(const SampleCounts& counts, const MetricGroup& group) {
  if (!counts.has_known() || !counts.has_unknown()) return {"", "", ""};
  const std::string name = GroupText(group);
  const auto text = [&](int64_t unknown) -> std::vector<std::string> {
    const double ratio = static_cast<double>(counts.known()) / static_cast<double>(unknown);
    return {absl::StrCat(counts.known()), absl::StrCat(unknown), unknown > 0 ? FullPrecision(ratio) : ""};
  };
  if (name == kPool) return text(counts.unknown());
  for (const GroupCount& of : counts.group()) {
    if (of.name() == name) return text(of.samples());
  }
  return {absl::StrCat(counts.known()), "", ""};
}

std::string BetterOf(const MetricRecord& metric) {
  if (!metric.has_higher_is_better()) return "";
  return metric.higher_is_better() ? "higher" : "lower";
}

}  // namespace

Table TidyTable(absl::Span<const TrialResult> results) {
  const std::vector<std::string> before = {"trial",         "method",          "task",    "split", "seed",
                                           "known_classes", "unknown_classes", "openness"};
  const std::vector<std::string> after = {
      "group", "known_samples", "unknown_samples", "known_per_unknown", "metric",   "value", "unit", "better",
      "low",   "high",          "outputs",         "checkpoint",        "overrides"};
  std::vector<std::string> fixed = before;
  fixed.insert(fixed.end(), after.begin(), after.end());
  const std::vector<std::string> axes = AxisNames(results);
  Table table;
  table.header = before;
  for (const std::string& axis : axes) table.header.push_back(ColumnName(axis, fixed));
  table.header.insert(table.header.end(), after.begin(), after.end());
  for (const TrialResult& result : results) {
    if (result.record == nullptr) continue;
    const TrialSpec& trial = *result.trial;
    const TrialRecord& record = *result.record;
    std::vector<std::string> start = {record.trial_id(),
                                      trial.method().name(),
                                      trial.task(),
                                      absl::StrCat(trial.split()),
                                      absl::StrCat(trial.seed()),
                                      absl::StrCat(trial.data().test_known().class_id_size()),
                                      absl::StrCat(CountUnknownClasses(trial.data())),
                                      FullPrecision(trial.openness())};
    for (const std::string& axis : axes) {
      const auto value = std::find_if(trial.axis().begin(), trial.axis().end(),
                                      [&](const AxisValue& of_trial) { return of_trial.name() == axis; });
      start.push_back(value == trial.axis().end() ? "" : value->value());
    }
    for (const MetricRecord& metric : record.metric()) {
      std::vector<std::string> row = start;
      const bool interval = metric.interval().has_low();
      row.push_back(GroupText(metric.group()));
      for (std::string& cell : SampleColumns(record.counts(), metric.group())) row.push_back(std::move(cell));
      for (std::string cell : {MeasuredName(metric), metric.has_value() ? FullPrecision(metric.value()) : "",
                               metric.unit(), BetterOf(metric), interval ? FullPrecision(metric.interval().low()) : "",
                               interval ? FullPrecision(metric.interval().high()) : "", record.outputs_key(),
                               record.checkpoint_key(), absl::StrJoin(trial.laid_over(), " ")}) {
        row.push_back(std::move(cell));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace openset
