#include "experiments/report/levels.h"

#include "data/task.pb.h"
#include "experiments/spec/trial.pb.h"
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

TEST(LevelTitles, NameWhatDistinguishesALevel) {
  Report report;
  report.cells = {Cell("birds", 3, 7), Cell("birds", 3, 7), Cell("cats", 6, 4),
                  Cell("cats", 6, 5),  Cell("dogs", 2, 8),  Cell("dogs", 4, 8)};
  const LevelTitles titles(report);
  EXPECT_EQ(titles.size(), 5);
  EXPECT_EQ(titles.Of(report.cells[0]), "birds");
  EXPECT_EQ(titles.Of(report.cells[2]), "cats, 4 unknown classes, openness 0.250");
  EXPECT_EQ(titles.Of(report.cells[4]), "dogs, 2 known and 8 unknown classes, openness 0.250");
}

TrialSpec Trial(const std::string& task, int known, int unknown) {
  TrialSpec trial;
  trial.set_task(task);
  for (int id = 0; id < known; ++id) trial.mutable_data()->mutable_test_known()->add_class_id(id);
  Selection* selection = trial.mutable_data()->add_test_unknown()->mutable_selection();
  for (int id = 0; id < unknown; ++id) selection->add_class_id(known + id);
  trial.set_openness(0.25);
  return trial;
}

TEST(LevelTitles, OfTrialsAreThoseOfTheirCells) {
  const TrialSpec birds = Trial("birds", 3, 7), four = Trial("cats", 6, 4), five = Trial("cats", 6, 5);
  EXPECT_EQ(LevelOf(four), LevelOf(Cell("cats", 6, 4)));
  const LevelTitles all({{&birds, nullptr}, {&four, nullptr}, {&five, nullptr}});
  EXPECT_EQ(all.size(), 3);
  EXPECT_EQ(all.tasks(), 2);
  EXPECT_EQ(all.Of(five), "cats, 5 unknown classes, openness 0.250");
  EXPECT_EQ(all.SuffixOf(birds), "_birds");
  EXPECT_EQ(all.SuffixOf(five), "_cats_6_5");
  EXPECT_EQ(LevelTitles({{&four, nullptr}, {&five, nullptr}}).SuffixOf(five), "_6_5");
  EXPECT_EQ(LevelTitles({{&four, nullptr}}).SuffixOf(four), "");
}

TEST(LevelOf, IsTheTaskWithItsClasses) {
  EXPECT_EQ(LevelOf(Cell("cats", 6, 4)), Level("cats", 6, 4));
  EXPECT_NE(LevelOf(Cell("cats", 6, 4)), LevelOf(Cell("cats", 4, 6)));
}

}  // namespace
}  // namespace openset
