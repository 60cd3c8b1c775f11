#include "experiments/report/report_tables.h"

#include <utility>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

ReportCell Cell(const std::string& method, const std::string& task, const std::string& metric,
                std::vector<double> values) {
  ReportCell cell;
  cell.method = method;
  cell.task = task;
  cell.known_classes = 6;
  cell.unknown_classes = 4;
  cell.group = "pool";
  cell.metric = metric;
  cell.display.label = metric;
  cell.display.factor = 1;
  cell.display.digits = 1;
  cell.display.higher_is_better = true;
  cell.values = std::move(values);
  for (int i = 0; i < static_cast<int>(cell.values.size()); ++i) {
    cell.splits.push_back(i);
    cell.seeds.push_back(7);
    cell.intervals.emplace_back();
  }
  Summarise(&cell);
  return cell;
}

// Two methods on two tasks by two metrics.
Report Example() {
  Report report;
  report.experiment = "study";
  double value = 0;
  for (const char* method : {"a", "b"}) {
    for (const char* task : {"cats", "dogs"}) {
      for (const char* metric : {"acc", "auc"}) {
        report.cells.push_back(Cell(method, task, metric, {value, value + 2}));
        ++value;
      }
    }
  }
  return report;
}

// On cats, the mean auc of b is 7 and of a is 2: b comes first, regardless of the order in the study.
TEST(ReportTables, AreSortedByAMetric) {
  Report report = Example();
  const auto first_methods = [&] {
    std::vector<std::string> first;
    for (const DocumentSection& titled : ReportTables(report)) first.push_back(titled.table.rows[0][0]);
    return first;
  };
  EXPECT_THAT(first_methods(), ElementsAre("a", "a"));
  report.sort_by = "auc";
  EXPECT_THAT(first_methods(), ElementsAre("b", "b"));
  for (ReportCell& cell : report.cells) cell.display.higher_is_better = false;
  EXPECT_THAT(first_methods(), ElementsAre("a", "a"));
  // Rows without a mean come last.
  report.cells[1].n = 0;
  EXPECT_THAT(first_methods(), ElementsAre("b", "a"));
  EXPECT_TRUE(CheckSort(report, "--sort", "acc").ok());
  EXPECT_THAT(std::string(CheckSort(report, "--sort", "acx").message()),
              HasSubstr("--sort: unknown metric 'acx'; did you mean 'acc'?"));
}

// Methods by sets, in the order of all samples; a mean over one set would repeat its column.
TEST(ReportTables, SetsAreColumns) {
  Report report;
  for (const char* method : {"a", "b"}) {
    report.cells.push_back(Cell(method, "task", "auc", {method[0] == 'b' ? 3.0 : 2.5}));
    for (const char* group : {"cats", "dogs", "mean of far"}) {
      const bool is_better = (method[0] == 'b') == (group[0] == 'c');  // b on cats, a on dogs
      report.cells.push_back(Cell(method, "task", "auc", {is_better ? 2.0 : 1.0}));
      report.cells.back().group = group;
      report.cells.back().mean_of_one = group[0] == 'm';
    }
  }
  report.sort_by = "auc";
  report.cells[1].among_best = true;
  const std::vector<DocumentSection> tables = ReportTables(report);
  ASSERT_EQ(tables.size(), 2);
  EXPECT_THAT(tables[0].table.rows, ElementsAre(ElementsAre("b", "3.0"), ElementsAre("a", "2.5")));
  EXPECT_THAT(tables[1].table.header, ElementsAre("method", "cats", "dogs"));
  EXPECT_THAT(tables[1].table.rows, ElementsAre(ElementsAre("b", "2.0", "1.0"), ElementsAre("a", "1.0 †", "2.0")));
}

// 0 and 2 have the population standard deviation 1 and, with n - 1, sqrt(2).
TEST(ReportTables, SpreadsAreByChoice) {
  Report report = Example();
  EXPECT_EQ(ReportTables(report)[0].table.rows[0][1], "1.0 ± 1.0");
  report.spread = Spread::kSample;
  EXPECT_EQ(ReportTables(report)[0].table.rows[0][1], "1.0 ± 1.4");
}

TEST(ReportTables, RowsAndColumnsAreFields) {
  Report report = Example();
  report.rows = {"method"};
  report.columns = {"task", "metric"};
  const std::vector<DocumentSection> tables = ReportTables(report);
  ASSERT_EQ(tables.size(), 1);
  EXPECT_EQ(tables[0].title, "study");
  EXPECT_EQ(ToText(tables[0].table),
            "method  cats, acc ↑  cats, auc ↑  dogs, acc ↑  dogs, auc ↑\n"
            "----------------------------------------------------------\n"
            "a         1.0 ± 1.0    2.0 ± 1.0    3.0 ± 1.0    4.0 ± 1.0\n"
            "b         5.0 ± 1.0    6.0 ± 1.0    7.0 ± 1.0    8.0 ± 1.0\n");
  EXPECT_EQ(tables[0].table.EmphasisOf(1, 1), Emphasis::kBest);
  EXPECT_EQ(tables[0].table.EmphasisOf(0, 1), Emphasis::kSecond);
}

TEST(ReportTables, OtherFieldsHaveATableAValue) {
  Report report = Example();
  report.rows = {"metric"};
  report.columns = {"method"};
  const std::vector<DocumentSection> tables = ReportTables(report);
  ASSERT_EQ(tables.size(), 2);
  EXPECT_EQ(tables[0].title, "cats");
  EXPECT_EQ(tables[1].title, "dogs");
  EXPECT_THAT(tables[1].table.header, ElementsAre("metric", "a", "b"));
  EXPECT_THAT(tables[1].table.rows[0], ElementsAre("acc ↑", "3.0 ± 1.0", "7.0 ± 1.0"));
  // The best of a row, where rows are metrics.
  EXPECT_EQ(tables[1].table.EmphasisOf(0, 2), Emphasis::kBest);
  EXPECT_EQ(tables[1].table.EmphasisOf(0, 1), Emphasis::kSecond);
}

// Rows of another task are not compared: of acc, a has 1 on cats and 3 on dogs, and b 5 and 7.
TEST(ReportTables, MarksTheBestOfEachTask) {
  Report report = Example();
  report.rows = {"method", "task"};
  report.columns = {"metric"};
  const std::vector<DocumentSection> tables = ReportTables(report);
  ASSERT_EQ(tables.size(), 1);
  EXPECT_THAT(tables[0].table.rows[1], ElementsAre("a", "dogs", "3.0 ± 1.0", "4.0 ± 1.0"));
  for (int row : {0, 1}) EXPECT_EQ(tables[0].table.EmphasisOf(row, 2), Emphasis::kSecond) << row;
  for (int row : {2, 3}) EXPECT_EQ(tables[0].table.EmphasisOf(row, 2), Emphasis::kBest) << row;
  // With methods as columns, the best of a row.
  report.rows = {"task", "metric"};
  report.columns = {"method"};
  const Table by_method = ReportTables(report)[0].table;
  for (int row : {0, 1, 2, 3}) EXPECT_EQ(by_method.EmphasisOf(row, 3), Emphasis::kBest) << row;
  // A method's runs are not compared with each other, but with the other method's on the same split.
  report.rows = {"method", "split"};
  report.columns = {"task", "metric"};
  const Table by_split = ReportTables(report)[0].table;
  ASSERT_THAT(by_split.rows[1], ElementsAre("a", "1", "2.0", "3.0", "4.0", "5.0"));
  for (int row : {0, 1}) EXPECT_EQ(by_split.EmphasisOf(row, 2), Emphasis::kSecond) << row;
  for (int row : {2, 3}) EXPECT_EQ(by_split.EmphasisOf(row, 2), Emphasis::kBest) << row;
}

TEST(BestMarks, AreThoseOfTheTables) {
  Report report = Example();
  const std::vector<Emphasis> marks = BestMarks(report);
  EXPECT_THAT(marks, ElementsAre(Emphasis::kSecond, Emphasis::kSecond, Emphasis::kSecond, Emphasis::kSecond,
                                 Emphasis::kBest, Emphasis::kBest, Emphasis::kBest, Emphasis::kBest));
  report.cells[4].missing = 1;  // a mean over other runs
  EXPECT_EQ(BestMarks(report)[4], Emphasis::kNone);
  EXPECT_EQ(BestMarks(report)[0], Emphasis::kNone);
}

TEST(ReportTables, SplitsSeedsAndAxes) {
  Report report;
  report.experiment = "study";
  report.cells = {Cell("a", "cats", "acc", {1, 3}), Cell("a", "cats", "acc", {5})};
  for (int i : {0, 1}) {
    AxisValue& axis = report.cells[i].axis.emplace_back();
    axis.set_name("lambda");
    axis.set_value(i == 0 ? "0.1" : "0.2");
  }
  report.rows = {"lambda"};
  report.columns = {"split"};
  const std::vector<DocumentSection> tables = ReportTables(report);
  ASSERT_EQ(tables.size(), 1);
  EXPECT_EQ(ToText(tables[0].table),
            "lambda    0    1\n"
            "----------------\n"
            "0.1     1.0  3.0\n"
            "0.2     5.0\n");
}

// 7 known classes with 8 unknown ones are another level than 2 with 8.
TEST(ReportTables, LevelsDifferInKnownClassesToo) {
  Report report;
  report.cells = {Cell("a", "cats", "acc", {1}), Cell("a", "cats", "acc", {2}), Cell("a", "cats", "acc", {3})};
  report.cells[1].known_classes = 2;
  report.cells[2].unknown_classes = 5;
  report.cells[1].openness = 0.25;
  const std::vector<DocumentSection> tables = ReportTables(report);
  ASSERT_EQ(tables.size(), 3);
  EXPECT_EQ(tables[0].title, "cats, 6 known and 4 unknown classes, openness 0.000");
  EXPECT_EQ(tables[1].title, "cats, 2 known and 4 unknown classes, openness 0.250");
  EXPECT_EQ(tables[2].title, "cats, 6 known and 5 unknown classes, openness 0.000");
}

TEST(CheckLayout, KnowsTheFields) {
  const Report report = Example();
  EXPECT_TRUE(CheckLayout(report, "--rows", {"method", "split", "seed", "unknown_classes"}).ok());
  EXPECT_THAT(CheckLayout(report, "--rows", {"metod"}).message(),
              HasSubstr("--rows: unknown field 'metod'; did you mean 'method'?"));
  EXPECT_THAT(CheckLayout(report, "--columns", {"task", "task"}).message(),
              HasSubstr("--columns: task is listed twice"));
}

}  // namespace
}  // namespace openset
