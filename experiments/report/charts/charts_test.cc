#include "experiments/report/charts/charts.h"

#include <cmath>

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/method.pb.h"

namespace openset {
namespace {

ReportCell Cell(const std::string& method, const std::string& lambda, double mean) {
  ReportCell cell;
  cell.method = method;
  cell.task = "t";
  cell.group = "pool";
  cell.metric = "auroc";
  cell.display.label = "AUROC";
  cell.display.factor = 100;
  cell.display.unit = "%";
  if (!lambda.empty()) {
    cell.axis.emplace_back();
    cell.axis.back().set_name("lambda");
    cell.axis.back().set_value(lambda);
  }
  cell.mean = mean;
  cell.std = 0.125;
  cell.n = 2;
  return cell;
}

TEST(SensitivityCharts, DrawsTheMeanOverTheSweptField) {
  Report report;
  report.cells = {Cell("m", "0.2", 0.75), Cell("m", "0.1", 0.5), Cell("softmax", "", 0.25)};
  const std::vector<ReportChart> charts = SensitivityCharts(report);
  ASSERT_EQ(charts.size(), 1);
  EXPECT_EQ(charts[0].name, "auroc_by_lambda");
  EXPECT_EQ(charts[0].plot.y_label, "AUROC, %");
  ASSERT_EQ(charts[0].plot.series.size(), 1);  // softmax has no lambda
  EXPECT_THAT(charts[0].plot.series[0].points, ElementsAre(Pair(0.1, 50), Pair(0.2, 75)));
  EXPECT_THAT(charts[0].plot.series[0].band, ElementsAre(Pair(37.5, 62.5), Pair(62.5, 87.5)));
  EXPECT_FALSE(charts[0].plot.x_log);
  EXPECT_EQ(charts[0].plot.subtitle, BandText(Spread::kPopulation));
}

TEST(SensitivityCharts, WideRangesAreLogarithmicAndWordsAreNoAxis) {
  Report report;
  report.cells = {Cell("m", "0.01", 0.75), Cell("m", "1", 0.5)};
  EXPECT_TRUE(SensitivityCharts(report).at(0).plot.x_log);
  report.cells = {Cell("m", "HINGE", 0.75), Cell("m", "SQUARE", 0.5)};
  EXPECT_THAT(SensitivityCharts(report), IsEmpty());
  report.cells = {Cell("m", "1", 0.75)};  // one value is not a curve
  EXPECT_THAT(SensitivityCharts(report), IsEmpty());
}

TEST(OpennessCharts, NeedTwoLevels) {
  Report report;
  report.cells = {Cell("m", "", 0.75), Cell("m", "", 0.5)};
  EXPECT_THAT(OpennessCharts(report), IsEmpty());
  report.cells[1].openness = 0.5;
  ASSERT_EQ(OpennessCharts(report).size(), 1);
  EXPECT_THAT(OpennessCharts(report)[0].plot.series[0].points, ElementsAre(Pair(0, 75), Pair(0.5, 50)));
}

TEST(LearningCurves, AreTheMeanOverTrialsInABandOfOneDeviation) {
  TrialSpec trial;
  trial.set_task("t");
  trial.mutable_method()->set_name("m");
  TrialRecord records[2];
  for (int r = 0; r < 2; ++r) {
    records[r] = Parsed<TrialRecord>(
        "epoch { epoch: 0 loss: 2 train_accuracy: 0.5 } epoch { epoch: 1 loss: 1 "
        "train_accuracy: 0.75 metric { name: 'auroc' value: 0.5 spec { auroc {} } "
        "group { kind: POOL } } }");
    records[r].mutable_epoch(1)->set_loss(1 + r);
  }
  const std::vector<ReportChart> charts =
      LearningCurves({{&trial, &records[0]}, {&trial, &records[1]}, {&trial, nullptr}});
  ASSERT_EQ(charts.size(), 3);
  EXPECT_EQ(charts[0].name, "loss");
  EXPECT_THAT(charts[0].plot.series[0].points, ElementsAre(Pair(1, 2), Pair(2, 1.5)));
  EXPECT_THAT(charts[0].plot.series[0].band, ElementsAre(Pair(2, 2), Pair(1, 2)));  // 1.5 ± 0.5
  EXPECT_EQ(charts[0].plot.subtitle, "mean ± population standard deviation over splits and seeds");
  EXPECT_EQ(charts[1].name, "train_accuracy");
  EXPECT_EQ(charts[2].name, "auroc");
  EXPECT_THAT(charts[2].plot.series[0].points, ElementsAre(Pair(2, 50)));
}

// Losses 1, 2 and 3 of three splits: the sample standard deviation is 1, and t with 2 degrees of freedom 4.302653.
TEST(LearningCurves, BandsAreTheSpreadThatIsAskedFor) {
  TrialSpec trials[3];
  TrialRecord records[3];
  std::vector<TrialResult> results;
  for (int r = 0; r < 3; ++r) {
    trials[r].set_task("t");
    trials[r].mutable_method()->set_name("m");
    trials[r].set_split(r);
    records[r].add_epoch()->set_loss(1 + r);
    results.push_back({&trials[r], &records[r]});
  }
  const auto band = [&](Spread spread) { return LearningCurves(results, spread)[0].plot.series[0].band[0]; };
  EXPECT_NEAR(band(Spread::kSample).second, 3, 1e-12);
  EXPECT_NEAR(band(Spread::kInterval).second, 2 + 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_EQ(LearningCurves(results, Spread::kSample)[0].plot.subtitle,
            "mean ± sample standard deviation over splits and seeds");
  EXPECT_EQ(LearningCurves(results, Spread::kInterval)[0].plot.subtitle, "mean, in its 95 % interval (Student's t)");
}

// Training accuracies of 1, 1 and 0.4 are 0.8 ± 0.28, and no share is above 1.
TEST(LearningCurves, BandsOfSharesStayWithinThem) {
  TrialSpec trial;
  trial.set_task("t");
  trial.mutable_method()->set_name("m");
  TrialRecord records[3];
  std::vector<TrialResult> results;
  for (int r = 0; r < 3; ++r) {
    EpochSummary* epoch = records[r].add_epoch();
    epoch->set_loss(100.0 * r);
    epoch->set_train_accuracy(r < 2 ? 1 : 0.4);
    results.push_back({&trial, &records[r]});
  }
  const std::vector<ReportChart> charts = LearningCurves(results);
  const auto& accuracy = charts[1].plot.series[0];
  EXPECT_NEAR(accuracy.points[0].second, 80, 1e-9);
  EXPECT_EQ(accuracy.band[0].second, 100);
  EXPECT_NEAR(accuracy.band[0].first, 80 - 100 * 0.4 / std::sqrt(2), 1e-9);  // 0.2, 0.2 and -0.4 from the mean
  EXPECT_GT(charts[0].plot.series[0].band[0].second, 100);                   // a loss has no limits
}

// Two levels of openness share a plot, unless their unknown samples were measured during training.
TEST(LearningCurves, OfLevelsThatWereMeasuredInTraining) {
  TrialSpec trials[2];
  TrialRecord records[2];
  for (int level = 0; level < 2; ++level) {
    trials[level].set_task("t");
    trials[level].mutable_method()->set_name("m");
    Selection* unknown = trials[level].mutable_data()->add_test_unknown()->mutable_selection();
    for (int id = 0; id <= level; ++id) unknown->add_class_id(id);
    EpochSummary* epoch = records[level].add_epoch();
    epoch->set_loss(1 + level);
    epoch->set_train_accuracy(0.5);
  }
  const std::vector<ReportChart> shared = LearningCurves({{&trials[0], &records[0]}, {&trials[1], &records[1]}});
  ASSERT_EQ(shared.size(), 2);
  EXPECT_EQ(shared[0].name, "loss");
  EXPECT_THAT(shared[0].plot.series[0].points, ElementsAre(Pair(1, 1.5)));
  for (TrialRecord& record : records) {
    MetricRecord* metric = record.mutable_epoch(0)->add_metric();
    metric->set_name("auroc");
    metric->set_value(0.5);
    metric->mutable_spec()->mutable_auroc();
    metric->mutable_group()->set_kind(MetricGroup::POOL);
  }
  std::vector<std::string> names;
  for (const ReportChart& chart : LearningCurves({{&trials[0], &records[0]}, {&trials[1], &records[1]}})) {
    names.push_back(chart.name);
  }
  EXPECT_THAT(
      names, ElementsAre("loss_0_1", "train_accuracy_0_1", "auroc_0_1", "loss_0_2", "train_accuracy_0_2", "auroc_0_2"));
}

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
