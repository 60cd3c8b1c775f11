#include "experiments/report/power_plan.h"

#include <cmath>

#include "core/testing/status_matchers.h"
#include "eval/metrics/metric.pb.h"
#include "eval/statistics/power.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/record.pb.h"

namespace openset {
namespace {

// A cell of 3 splits with 2 seeds.
ReportCell Cell(const std::string& method, std::vector<double> values) {
  ReportCell cell;
  cell.method = method;
  cell.task = "task";
  cell.group = "pool";
  cell.metric = "auroc";
  MetricSpec auroc;
  auroc.mutable_auroc();
  cell.display = DisplayOf(auroc);
  cell.n = static_cast<int>(values.size());
  cell.values = std::move(values);
  for (int i = 0; i < cell.n; ++i) {
    cell.splits.push_back(i / 2);
    cell.seeds.push_back(i % 2);
  }
  return cell;
}

PowerOptions Options() {
  PowerOptions options;
  options.metric = "auroc";
  options.group = "pool";
  options.size = 1;
  options.cpu_seconds_of_run = 10;
  return options;
}

// Differences in points: 1, 3 | 3, 5 | 8, 10. Variances of seeds 2 and of splits 12 (variance_components_test.cc).
Report Pilot() {
  Report report;
  report.cells = {Cell("plain", std::vector<double>(6, 0.5)), Cell("better", {0.51, 0.53, 0.53, 0.55, 0.58, 0.60})};
  return report;
}

TEST(PowerPlan, HasTheCheapestNumbersOfSplitsAndSeeds) {
  const PowerPlan plan = MakePowerPlan(Pilot(), Options()).value();
  EXPECT_EQ(plan.baseline, "plain");
  ASSERT_EQ(plan.rows.size(), 1);
  EXPECT_NEAR(plan.rows[0].mean_difference, 0.05, 1e-12);
  EXPECT_NEAR(plan.rows[0].components.split, 12e-4, 1e-12);
  EXPECT_NEAR(*plan.rows[0].components.seed, 2e-4, 1e-12);
  EXPECT_NEAR(*SharesOf(plan.rows[0].components).split, 100 * 12.0 / 14, 1e-9);
  // The standard error of three means is sqrt(13 / 3) points; 5.6535 of them are detectable (power_test.cc).
  EXPECT_NEAR(*plan.rows[0].detectable, 0.01 * std::sqrt(13.0 / 3) * 5.653489266197128, 1e-9);
  ASSERT_EQ(plan.allocations.size(), 5);
  EXPECT_EQ(plan.allocations[0].splits, ReplicatesToDetect(1 / std::sqrt(14.0), 0.05));
  EXPECT_EQ(plan.rows[0].splits, plan.allocations[0].splits);
  EXPECT_EQ(plan.allocations[2].splits, ReplicatesToDetect(1 / std::sqrt(12 + 2 / 3.0), 0.05));
  EXPECT_DOUBLE_EQ(plan.allocations[2].cpu_seconds, 10.0 * 3 * plan.allocations[2].splits);
  EXPECT_TRUE(plan.allocations[0].is_cheapest);
}

TEST(PowerPlan, TakesSeedsWhereSplitsAreFew) {
  // Differences -4, 8 | -2, 12 | 0, 10: all of the variance, (72 + 98 + 50) / 3, is between seeds.
  const std::vector<double> noisy = {0.46, 0.58, 0.48, 0.62, 0.50, 0.60};
  Report report = Pilot();
  report.cells[1] = Cell("noisy", noisy);
  PowerOptions options = Options();
  options.size = 5;
  const PowerPlan any = MakePowerPlan(report, options).value();
  EXPECT_EQ(any.allocations[0].splits, ReplicatesToDetect(5 / std::sqrt(220.0 / 3), 0.05));
  ASSERT_GT(any.allocations[0].splits, any.allocations[1].splits);
  options.most_splits = any.allocations[1].splits;
  const PowerPlan few = MakePowerPlan(report, options).value();
  EXPECT_FALSE(few.allocations[0].is_cheapest);
  EXPECT_TRUE(few.allocations[1].is_cheapest);
  options.most_splits = 3;
  for (const Allocation& allocation : MakePowerPlan(report, options)->allocations) EXPECT_FALSE(allocation.is_cheapest);
}

TEST(PowerPlan, CorrectsForTheNumberOfRows) {
  Report report = Pilot();
  report.cells.push_back(Cell("other", {0.5, 0.52, 0.51, 0.53, 0.52, 0.52}));
  const PowerPlan plan = MakePowerPlan(report, Options()).value();
  EXPECT_DOUBLE_EQ(plan.level, 0.025);
  EXPECT_EQ(plan.allocations[0].splits, ReplicatesToDetect(1 / std::sqrt(14.0), 0.025));
}

TEST(PowerPlan, OfOneSeedHasNoPartOfSeeds) {
  Report report = Pilot();
  for (ReportCell& cell : report.cells) cell.splits = {0, 1, 2, 3, 4, 5};
  const PowerPlan plan = MakePowerPlan(report, Options()).value();
  EXPECT_FALSE(plan.rows[0].components.seed.has_value());
  EXPECT_FALSE(SharesOf(plan.rows[0].components).split.has_value());
  EXPECT_EQ(plan.allocations.size(), 1);
}

TEST(PowerPlan, SaysWhatIsMissing) {
  PowerOptions options = Options();
  options.metric = "aurok";
  EXPECT_THAT(MakePowerPlan(Pilot(), options), IsInvalidArgument("did you mean 'auroc'"));
  options = Options();
  options.group = "far";
  EXPECT_THAT(MakePowerPlan(Pilot(), options), IsInvalidArgument("far"));
  options = Options();
  options.baseline = "none";
  EXPECT_THAT(MakePowerPlan(Pilot(), options), IsInvalidArgument("none"));
  Report one = Pilot();
  for (ReportCell& cell : one.cells) cell.splits.assign(cell.n, 0);
  for (ReportCell& cell : one.cells) cell.seeds = {0, 1, 2, 3, 4, 5};
  EXPECT_THAT(MakePowerPlan(one, Options()), IsInvalidArgument("two splits in common with plain"));
  EXPECT_THAT(MakePowerPlan(Report(), Options()), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Two trials of one split share a training of 6 s; each has an evaluation of 1 s.
TEST(PowerPlan, CountsSharedStagesOnce) {
  TrialSpec trial;
  trial.set_task("task");
  std::vector<TrialRecord> records(2);
  for (int r = 0; r < 2; ++r) {
    StageProvenance* training = records[r].mutable_provenance()->add_stage();
    training->set_key("training");
    training->set_cpu_seconds(6);
    StageProvenance* evaluation = records[r].mutable_provenance()->add_stage();
    evaluation->set_key(std::string(1, static_cast<char>('a' + r)));
    evaluation->set_cpu_seconds(1);
  }
  EXPECT_DOUBLE_EQ(CpuSecondsOf({{&trial, &records[0]}, {&trial, &records[1]}, {&trial, nullptr}}), 8);
  EXPECT_DOUBLE_EQ(CpuSecondsOfRun({{&trial, &records[0]}, {&trial, &records[1]}}), 8);
  EXPECT_DOUBLE_EQ(CpuSecondsOfRun({}), 0);
}

}  // namespace
}  // namespace openset
