// A level: a task with numbers of known and unknown classes. Each level of a report has its own tables and plots.
#ifndef OPENSET_EXPERIMENTS_REPORT_LEVELS_H_
#define OPENSET_EXPERIMENTS_REPORT_LEVELS_H_

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "experiments/report/report.h"

namespace openset {

// Task, known and unknown classes.
using Level = std::tuple<std::string, int, int>;

Level LevelOf(const ReportCell& cell);
Level LevelOf(const TrialSpec& trial);

// What cells share that can be compared with each other: the level, the group of unknown samples and the metric.
using Place = std::tuple<Level, std::string, std::string>;

Place PlaceOf(const ReportCell& cell);

// Titles of levels: the task, and whatever distinguishes the level from other levels of the task.
class LevelTitles {
 public:
  explicit LevelTitles(const Report& report);
  explicit LevelTitles(absl::Span<const TrialResult> results);

  // "cats"; "cats, 4 unknown classes, openness 0.134"; "cats, 6 known and 4 unknown classes, openness 0.134" if the
  // numbers of known classes differ too. Precondition: the level is one of the report or of the trials.
  std::string Of(const ReportCell& cell) const;
  std::string Of(const TrialSpec& trial) const;

  // A suffix for the name of a plot: "_cats" if there are several tasks, "_6_4" if the task has several levels, else
  // "".
  std::string SuffixOf(const TrialSpec& trial) const;

  // The number of levels, and the number of their tasks.
  int size() const;
  int tasks() const { return static_cast<int>(levels_.size()); }

 private:
  void Add(const Level& level);
  std::string Title(const Level& level, double openness) const;

  std::map<std::string, std::set<int>> known_;
  std::map<std::string, std::set<std::pair<int, int>>> levels_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_LEVELS_H_
