#include "experiments/report/charts/improvement.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

ReportCell Cell(const std::string& method, const std::string& metric, bool higher_is_better, double mean) {
  ReportCell cell;
  cell.method = method;
  cell.task = "t";
  cell.group = "pool";
  cell.metric = metric;
  cell.display.label = metric;
  cell.display.higher_is_better = higher_is_better;
  cell.values = {mean};
  cell.splits = {0};
  cell.seeds = {0};
  Summarise(&cell);
  return cell;
}

// Fig. 5a's numbers of Table 6: MCP 773.15, Ensemble 731.71, ODIN 802.19.
TEST(ImprovementCharts, AreRelativeToTheBaseline) {
  Report report;
  report.cells = {Cell("mcp", "aurc", false, 0.77315), Cell("mcp", "auroc", true, 0.5),
                  Cell("ensemble", "aurc", false, 0.73171), Cell("ensemble", "auroc", true, 0.75),
                  Cell("odin", "aurc", false, 0.80219)};
  report.cells[4].significance = Significance{0.5, false};
  const std::vector<ImprovementChart> charts = ImprovementCharts(report, "mcp");
  ASSERT_EQ(charts.size(), 2);
  EXPECT_EQ(charts[0].name, "improvement_aurc");
  EXPECT_EQ(charts[0].chart.label, "relative reduction of aurc, % of mcp's");
  ASSERT_EQ(charts[0].chart.bars.size(), 2);
  EXPECT_EQ(charts[0].chart.bars[0].first, "ensemble");
  EXPECT_NEAR(charts[0].chart.bars[0].second, 5.36, 0.005);
  EXPECT_NEAR(charts[0].chart.bars[1].second, -3.76, 0.005);
  EXPECT_THAT(charts[0].chart.faint, ElementsAre("odin"));
  EXPECT_THAT(charts[0].chart.outlined, ElementsAre("ensemble"));
  EXPECT_THAT(charts[0].chart.legend, ElementsAre("faint: no detectable difference",
                                                  "outlined: not tested, fewer than 3 splits, or seeds of one split"));
  EXPECT_THAT(charts[1].chart.bars, ElementsAre(Pair("ensemble", DoubleEq(50))));
}

TEST(ImprovementCharts, NeedABaselineThatIsNotZeroAndADirection) {
  Report report;
  report.cells = {Cell("mcp", "aurc", false, 0), Cell("ensemble", "aurc", false, 0.5)};
  EXPECT_THAT(ImprovementCharts(report, ""), IsEmpty());
  EXPECT_THAT(ImprovementCharts(report, "nobody"), IsEmpty());
  report.cells[0] = Cell("mcp", "aurc", false, 1);
  EXPECT_EQ(ImprovementCharts(report, "").size(), 1);
  report.cells[1].group = "near";
  EXPECT_THAT(ImprovementCharts(report, ""), IsEmpty());
  report.cells[1] = Cell("ensemble", "aurc", false, 0.5);
  report.cells[0].display.higher_is_better.reset();
  EXPECT_THAT(ImprovementCharts(report, ""), IsEmpty());
}

// Two splits are not tested, and neither are differences that are all the same: neither bar is faint.
TEST(ImprovementCharts, OutlinesWhatIsNotTested) {
  Report report;
  report.cells = {Cell("mcp", "aurc", false, 1), Cell("ensemble", "aurc", false, 0.5), Cell("odin", "aurc", false, 2)};
  report.cells[1].significance = Significance{{}, false, 2};
  report.cells[2].significance = Significance{{}, false, 5, false, /*is_constant=*/true};
  const BarChart chart = ImprovementCharts(report, "mcp")[0].chart;
  EXPECT_THAT(chart.faint, IsEmpty());
  EXPECT_THAT(chart.outlined, ElementsAre("ensemble", "odin"));
  EXPECT_THAT(chart.legend, ElementsAre("outlined: not tested, fewer than 3 splits, or seeds of one split",
                                        "outlined: not tested, the same difference in every run"));
}

// The baseline has 4, 2 and 9; the other method has 3 and 1 in the first two runs, and no third run: 2 is compared with
// 3.
TEST(ImprovementCharts, AreOfTheRunsInCommon) {
  Report report;
  report.cells = {Cell("mcp", "aurc", false, 0), Cell("ensemble", "aurc", false, 0)};
  report.cells[0].values = {4, 2, 9};
  report.cells[0].splits = {0, 1, 2};
  report.cells[0].seeds = {0, 0, 0};
  report.cells[1].values = {3, 1};
  report.cells[1].splits = {0, 1};
  report.cells[1].seeds = {0, 0};
  report.cells[1].missing = 1;
  for (ReportCell& cell : report.cells) Summarise(&cell);
  report.cells[1].significance = Significance{0.01, true};
  const std::vector<ImprovementChart> charts = ImprovementCharts(report, "mcp");
  ASSERT_EQ(charts.size(), 1);
  EXPECT_THAT(charts[0].chart.bars, ElementsAre(Pair("ensemble (n=2)", DoubleEq(100 * (3 - 2) / 3.0))));
  EXPECT_THAT(charts[0].chart.legend, ElementsAre("solid: differs (paired t test by split, Holm's p < 0.05)"));
  report.cells[1].splits = {5, 6};
  EXPECT_THAT(ImprovementCharts(report, "mcp"), IsEmpty());
}

TEST(ImprovementCharts, EachTaskHasItsOwn) {
  Report report;
  report.cells = {Cell("mcp", "aurc", false, 1), Cell("ensemble", "aurc", false, 0.5), Cell("mcp", "aurc", false, 2),
                  Cell("ensemble", "aurc", false, 0.5)};
  report.cells[2].task = report.cells[3].task = "u";
  const std::vector<ImprovementChart> charts = ImprovementCharts(report, "mcp");
  ASSERT_EQ(charts.size(), 2);
  EXPECT_EQ(charts[1].name, "improvement_aurc_u_0_0");
  EXPECT_THAT(charts[1].chart.bars, ElementsAre(Pair("ensemble", DoubleEq(75))));
}

}  // namespace
}  // namespace openset
