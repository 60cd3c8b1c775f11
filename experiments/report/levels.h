// Tasks at levels of openness: what a table or a plot of a report is of.
#ifndef OPENSET_EXPERIMENTS_REPORT_LEVELS_H_
#define OPENSET_EXPERIMENTS_REPORT_LEVELS_H_

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "experiments/report/report.h"

namespace openset {

// Task, known and unknown classes.
using Level = std::tuple<std::string, int, int>;

Level LevelOf(const ReportCell& cell);

// Titles of the levels of a report: the task, and what sets a level apart from the task's others.
class LevelTitles {
 public:
  explicit LevelTitles(const Report& report);

  // "cats"; "cats, 4 unknown classes, openness 0.134"; "cats, 6 known and 4 unknown classes, openness 0.134" where the
  // known ones differ too. Precondition: a cell of the report, or of its level.
  std::string Of(const ReportCell& cell) const;

  // How many there are.
  int size() const;

 private:
  std::map<std::string, std::set<int>> known_;
  std::map<std::string, std::set<std::pair<int, int>>> levels_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_LEVELS_H_
