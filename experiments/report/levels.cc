#include "experiments/report/levels.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {

Level LevelOf(const ReportCell& cell) { return {cell.task, cell.known_classes, cell.unknown_classes}; }

Place PlaceOf(const ReportCell& cell) { return {LevelOf(cell), cell.group, cell.metric}; }

Level LevelOf(const TrialSpec& trial) {
  return {trial.task(), trial.data().test_known().class_id_size(), CountUnknownClasses(trial.data())};
}

LevelTitles::LevelTitles(const Report& report) {
  for (const ReportCell& cell : report.cells) Add(LevelOf(cell));
}

LevelTitles::LevelTitles(absl::Span<const TrialResult> results) {
  for (const TrialResult& result : results) Add(LevelOf(*result.trial));
}

void LevelTitles::Add(const Level& level) {
  const auto& [task, known, unknown] = level;
  known_[task].insert(known);
  levels_[task].insert({known, unknown});
}

std::string LevelTitles::Of(const ReportCell& cell) const { return Title(LevelOf(cell), cell.openness); }

std::string LevelTitles::Of(const TrialSpec& trial) const { return Title(LevelOf(trial), trial.openness()); }

std::string LevelTitles::Title(const Level& level, double openness) const {
  const auto& [task, known, unknown] = level;
  if (levels_.at(task).size() < 2) return task;
  return absl::StrFormat("%s, %s%d unknown classes, openness %.3f", task,
                         known_.at(task).size() < 2 ? "" : absl::StrCat(known, " known and "), unknown, openness);
}

std::string LevelTitles::SuffixOf(const TrialSpec& trial) const {
  const auto& [task, known, unknown] = LevelOf(trial);
  return absl::StrCat(levels_.size() < 2 ? "" : absl::StrCat("_", task),
                      levels_.at(task).size() < 2 ? "" : absl::StrCat("_", known, "_", unknown));
}

int LevelTitles::size() const {
  int number = 0;
  for (const auto& [task, levels] : levels_) number += static_cast<int>(levels.size());
  return number;
}

}  // namespace openset
