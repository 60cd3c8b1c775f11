#include "experiments/report/charts/charts.h"

#include <cmath>

#include "core/testing/parsed.h"
#include "data/task.pb.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/report/statistics/spread.h"
#include "experiments/spec/method.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

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
  EXPECT_THAT(charts[0].plot.series[0].points, ElementsAre(Pair(0, 2), Pair(1, 1.5)));
  EXPECT_THAT(charts[0].plot.series[0].band, ElementsAre(Pair(2, 2), Pair(1, 2)));  // 1.5 ± 0.5
  EXPECT_EQ(charts[0].plot.subtitle, "mean ± population standard deviation over splits and seeds");
  EXPECT_EQ(charts[1].name, "train_accuracy");
  EXPECT_EQ(charts[2].name, "auroc");
  EXPECT_THAT(charts[2].plot.series[0].points, ElementsAre(Pair(1, 50)));
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
  EXPECT_THAT(shared[0].plot.series[0].points, ElementsAre(Pair(0, 1.5)));
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

}  // namespace
}  // namespace openset
