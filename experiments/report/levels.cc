#include "experiments/report/levels.h"

#include "absl/strings/str_format.h"

namespace openset {

Level LevelOf(const ReportCell& cell) { return {cell.task, cell.known_classes, cell.unknown_classes}; }

LevelTitles::LevelTitles(const Report& report) {
  for (const ReportCell& cell : report.cells) {
    known_[cell.task].insert(cell.known_classes);
    levels_[cell.task].insert({cell.known_classes, cell.unknown_classes});
  }
}

std::string LevelTitles::Of(const ReportCell& cell) const {
  if (levels_.at(cell.task).size() < 2) return cell.task;
  const std::string known = known_.at(cell.task).size() < 2 ? "" : absl::StrFormat("%d known and ", cell.known_classes);
  return absl::StrFormat("%s, %s%d unknown classes, openness %.3f", cell.task, known, cell.unknown_classes,
                         cell.openness);
}

int LevelTitles::size() const {
  int number = 0;
  for (const auto& [task, levels] : levels_) number += static_cast<int>(levels.size());
  return number;
}

}  // namespace openset
