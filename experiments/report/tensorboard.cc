#include "experiments/report/tensorboard.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/formats/tf_record.h"
#include "experiments/report/tensorboard_event.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
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
