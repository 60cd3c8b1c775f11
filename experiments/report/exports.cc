#include "experiments/report/exports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/files/formats/tf_record.h"
#include "experiments/report/tensorboard_event.pb.h"
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
                               record.checkpoint_key(), absl::StrJoin(trial.overrides(), " ")}) {
        row.push_back(std::move(cell));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

namespace {

// A name as one part of a path.
std::string FileName(const std::string& name) { return absl::StrReplaceAll(name, {{"/", "_"}}); }

std::string PathOf(const TrialSpec& trial, const TrialRecord& record) {
  return absl::StrCat(FileName(trial.task()), "/", FileName(RowName(trial)), "/split ", trial.split(), ", seed ",
                      trial.seed(), "/events.out.tfevents.0.", record.trial_id());
}

class Events {
 public:
  // An event at a step, to which values are added.
  TensorBoardSummary* At(int64_t step, double wall_time) {
    TensorBoardEvent& event = events_.emplace_back();
    event.set_step(step);
    event.set_wall_time(wall_time);
    return event.mutable_summary();
  }

  std::string Write(double wall_time) const {
    TensorBoardEvent version;
    version.set_wall_time(wall_time);
    version.set_file_version("brain.Event:2");
    std::string bytes = TfRecord(version.SerializeAsString());
    for (const TensorBoardEvent& event : events_) {
      if (event.summary().value_size() > 0) absl::StrAppend(&bytes, TfRecord(event.SerializeAsString()));
    }
    return bytes;
  }

 private:
  std::vector<TensorBoardEvent> events_;
};

void Add(const std::string& tag, double value, TensorBoardSummary* summary) {
  TensorBoardValue* added = summary->add_value();
  added->set_tag(tag);
  added->set_simple_value(static_cast<float>(value));
}

void AddMetric(const MetricRecord& metric, const std::string& prefix, TensorBoardSummary* summary) {
  if (!metric.has_value()) return;
  const std::string group = GroupText(metric.group());
  Add(absl::StrCat(prefix, group == kPool ? "" : absl::StrCat(group, "/"), MeasuredName(metric)), metric.value(),
      summary);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> TensorBoardFiles(absl::Span<const TrialResult> results) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const TrialResult& result : results) {
    if (result.record == nullptr) continue;
    const TrialRecord& record = *result.record;
    double start = 0, seconds = 0;
    for (const StageProvenance& stage : record.provenance().stage()) {
      if (start == 0) start = stage.started_at_seconds();
      if (stage.stage() == StageProvenance::TRAIN) seconds = stage.wall_seconds();
    }
    Events events;
    const int epochs = record.epoch_size();
    int64_t last = -1;
    for (int e = 0; e < epochs; ++e) {
      const EpochSummary& epoch = record.epoch(e);
      TensorBoardSummary* summary = events.At(epoch.epoch(), start + seconds * (e + 1) / epochs);
      Add("training/objective", epoch.loss(), summary);
      Add("training/accuracy", epoch.train_accuracy(), summary);
      Add("training/learning_rate", epoch.learning_rate(), summary);
      for (const MetricRecord& metric : epoch.metric()) AddMetric(metric, "", summary);
      last = epoch.epoch();
    }
    TensorBoardSummary* summary = events.At(last + 1, start + seconds);
    for (const MetricRecord& metric : record.metric()) AddMetric(metric, "test/", summary);
    files.emplace_back(PathOf(*result.trial, record), events.Write(start));
  }
  return files;
}

}  // namespace openset
