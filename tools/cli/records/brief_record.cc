#include "tools/cli/records/brief_record.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/text/one_line.h"
#include "core/text/wrapped_text.h"
#include "data/task.pb.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/report/report.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"

namespace openset {
namespace {

constexpr size_t kMostMetrics = 8;

// Facts, with their names in one column.
class Lines {
 public:
  void Add(const std::string& name, const std::string& value) {
    if (value.empty()) return;
    absl::StrAppend(&text_, Wrapped(absl::StrFormat("%-11s%s", name, OneLine(value))), "\n");
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string SamplesText(const TrialRecord& record) {
  const SampleCounts& counts = record.counts();
  if (!counts.has_known()) return "";
  std::string text = absl::StrCat(counts.known(), " known of ", counts.known_classes(), " classes, ", counts.unknown(),
                                  " unknown of ", counts.unknown_classes());
  for (int g = 0; counts.group_size() > 1 && g < counts.group_size(); ++g) {
    absl::StrAppend(&text, g == 0 ? ": " : ", ", counts.group(g).name(), " ", counts.group(g).samples());
  }
  return text;
}

// The values of the pool.
std::string NumbersText(const TrialRecord& record) {
  std::vector<std::string> numbers;
  for (const MetricRecord& metric : record.metric()) {
    if (metric.group().kind() != MetricGroup::POOL) continue;
    if (numbers.size() == kMostMetrics) {
      numbers.emplace_back("...");
      break;
    }
    const Display display = DisplayOf(metric.spec());
    const std::string value =
        metric.has_value() ? Shown(metric.value(), display) : absl::StrCat("undefined (", metric.absent_reason(), ")");
    numbers.push_back(absl::StrCat(LabelWithUnit(display), " ", value));
  }
  return absl::StrJoin(numbers, "; ");
}

std::string TrainingText(const TrialRecord& record) {
  if (record.epoch_size() == 0) return "";
  const EpochSummary& last = record.epoch(record.epoch_size() - 1);
  return absl::StrFormat("%d epochs, last objective %.4g, training accuracy %.1f %%", record.epoch_size(), last.loss(),
                         100 * last.train_accuracy());
}

// The different values of a field of the stages, in their order.
template <typename Field>
std::string Values(const TrialRecord& record, Field field) {
  std::vector<std::string> values;
  for (const StageProvenance& stage : record.provenance().stage()) {
    const std::string value = field(stage);
    if (!value.empty() && !absl::c_linear_search(values, value)) values.push_back(value);
  }
  return absl::StrJoin(values, "; ");
}

std::string TimeText(const TrialRecord& record, absl::Time now) {
  double first = 0, last = 0, cpu = 0;
  for (const StageProvenance& stage : record.provenance().stage()) {
    if (stage.started_at_seconds() > 0 && (first == 0 || stage.started_at_seconds() < first)) {
      first = stage.started_at_seconds();
    }
    last = std::max({last, stage.started_at_seconds(), stage.ended_at_seconds()});
    cpu += stage.cpu_seconds();
  }
  if (last == 0) return "";
  const absl::Time end = absl::UnixEpoch() + absl::Seconds(last);
  std::string text =
      absl::StrCat(absl::FormatTime("%Y-%m-%d %H:%M", end, absl::LocalTimeZone()), ", ", AgeText(now - end), " ago");
  if (cpu > 0) absl::StrAppend(&text, absl::StrFormat("; %.3g CPU hours", cpu / 3600));
  return text;
}

}  // namespace

std::string AgeText(absl::Duration age) {
  const int64_t minutes = std::max<int64_t>(0, absl::ToInt64Minutes(age));
  if (minutes >= 2 * 24 * 60) return absl::StrCat(minutes / (24 * 60), " days");
  if (minutes >= 2 * 60) return absl::StrCat(minutes / 60, " hours");
  return absl::StrCat(minutes, minutes == 1 ? " minute" : " minutes");
}

std::string BriefText(const TrialRecord& record, absl::Time now) {
  const TrialSpec& trial = record.trial();
  Lines lines;
  lines.Add("trial", record.trial_id());
  lines.Add("method", RowName(trial));
  lines.Add("title", trial.method().title());
  lines.Add("task", absl::StrCat(trial.task(), ", split ", trial.split(), ", seed ", trial.seed()));
  lines.Add("samples", SamplesText(record));
  lines.Add("numbers", NumbersText(record));
  lines.Add("training", TrainingText(record));
  lines.Add("study", trial.experiment());
  lines.Add("changed", absl::StrJoin(trial.overrides(), " "));
  lines.Add("tags", absl::StrJoin(trial.tag(), ", "));
  lines.Add("when", TimeText(record, now));
  lines.Add("by", Values(record, [](const StageProvenance& stage) {
              return absl::StrCat(stage.user_name(), stage.user_name().empty() ? "" : " on ", stage.host());
            }));
  lines.Add("program", Values(record, [](const StageProvenance& stage) {
              if (stage.commit().empty()) return std::string();
              return absl::StrCat("commit ", stage.commit(), stage.dirty() ? ", with changes" : "");
            }));
  lines.Add("LibTorch", Values(record, [](const StageProvenance& stage) { return stage.libtorch_version(); }));
  lines.Add("processor", Values(record, [](const StageProvenance& stage) {
              const std::string& kernels = stage.gpu().empty() ? stage.cpu_capability() : stage.gpu();
              return absl::StrCat(stage.cpu(), kernels.empty() ? "" : absl::StrCat(" (", kernels, ")"));
            }));
  lines.Add("split", record.split_sha256().substr(0, 12));
  lines.Add("outputs", record.outputs_key().substr(0, 12));
  lines.Add("checkpoint", record.checkpoint_key().substr(0, 12));
  return lines.Take();
}

}  // namespace openset
