#include "experiments/report/levels.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

ReportCell Cell(const std::string& task, int known, int unknown) {
  ReportCell cell;
  cell.task = task;
  cell.known_classes = known;
  cell.unknown_classes = unknown;
  cell.openness = 0.25;
  return cell;
}

TEST(LevelTitles, SayWhatSetsALevelApart) {
  Report report;
  report.cells = {Cell("birds", 3, 7), Cell("birds", 3, 7), Cell("cats", 6, 4),
                  Cell("cats", 6, 5),  Cell("dogs", 2, 8),  Cell("dogs", 4, 8)};
  const LevelTitles titles(report);
  EXPECT_EQ(titles.size(), 5);
  EXPECT_EQ(titles.Of(report.cells[0]), "birds");
  EXPECT_EQ(titles.Of(report.cells[2]), "cats, 4 unknown classes, openness 0.250");
  EXPECT_EQ(titles.Of(report.cells[4]), "dogs, 2 known and 8 unknown classes, openness 0.250");
}

TEST(LevelOf, IsTheTaskWithItsClasses) {
  EXPECT_EQ(LevelOf(Cell("cats", 6, 4)), Level("cats", 6, 4));
  EXPECT_NE(LevelOf(Cell("cats", 6, 4)), LevelOf(Cell("cats", 4, 6)));
}

}  // namespace
}  // namespace openset
