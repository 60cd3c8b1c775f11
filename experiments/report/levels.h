// Tasks at levels of openness: what a table or a plot of a report is of.
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

// Titles of the levels of a report or of trials: the task, and what sets a level apart from the task's others.
class LevelTitles {
 public:
  explicit LevelTitles(const Report& report);
  explicit LevelTitles(absl::Span<const TrialResult> results);

  // "cats"; "cats, 4 unknown classes, openness 0.134"; "cats, 6 known and 4 unknown classes, openness 0.134" where the
  // known ones differ too. Precondition: a cell of the report, a trial of the trials, or one of their levels.
  std::string Of(const ReportCell& cell) const;
  std::string Of(const TrialSpec& trial) const;

  // Behind the name of a plot, "" of one level: "_cats" among several tasks, "_6_4" among several levels of it.
  std::string SuffixOf(const TrialSpec& trial) const;

  // How many there are, and of how many tasks.
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
