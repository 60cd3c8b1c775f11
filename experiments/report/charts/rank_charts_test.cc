#include "experiments/report/charts/rank_charts.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A method's values on `n` splits, each the same.
ReportCell Cell(const std::string& method, double value, int n) {
  ReportCell cell;
  cell.method = method;
  cell.task = "t";
  cell.group = "pool";
  cell.metric = "auroc";
  cell.display.label = "AUROC";
  cell.display.higher_is_better = true;
  for (int split = 0; split < n; ++split) {
    cell.values.push_back(value);
    cell.splits.push_back(split);
  }
  return cell;
}

// Six splits that agree on the order of three methods: p = 3!^(1 - 6) = 1 / 7776.
TEST(MakeRankCharts, DrawsRejectedMetrics) {
  Report report;
  report.cells = {Cell("a", 0.9, 6), Cell("b", 0.5, 6), Cell("c", 0.7, 6)};
  const RankCharts made = MakeRankCharts(report);
  ASSERT_EQ(made.charts.size(), 1);
  EXPECT_EQ(made.charts[0].first, "ranks_auroc");
  EXPECT_THAT(made.charts[0].second.dump(), HasSubstr("AUROC over 6 splits of 1 task (p = 0.00013)"));
  EXPECT_THAT(made.charts[0].second.dump(), HasSubstr("c (2.00)"));
  EXPECT_THAT(made.lines, IsEmpty());
}

TEST(MakeRankCharts, NamesMetricsThatAreNotRejected) {
  Report report;
  report.cells = {Cell("a", 0.5, 3), Cell("b", 0.5, 3), Cell("c", 0.5, 4)};  // the fourth split is of one method only
  const RankCharts made = MakeRankCharts(report);
  EXPECT_THAT(made.charts, IsEmpty());
  ASSERT_EQ(made.lines.size(), 1);
  EXPECT_THAT(made.lines[0], HasSubstr("over 3 splits of 1 task no difference between the 3 methods"));
  report.cells = {Cell("a", 0.9, 2), Cell("b", 0.5, 2), Cell("c", 0.7, 2)};
  EXPECT_THAT(MakeRankCharts(report).lines,
              ElementsAre("AUROC: not tested over all methods: fewer than 3 splits (2)."));
  EXPECT_THAT(MakeRankCharts(report).charts, IsEmpty());
  report.cells.pop_back();
  EXPECT_THAT(MakeRankCharts(report).lines, IsEmpty());
}

}  // namespace
}  // namespace openset
