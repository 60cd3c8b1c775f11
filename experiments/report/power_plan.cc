#include "experiments/report/power_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/text/suggest.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/power.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {
namespace {

constexpr double kPlanLevel = 0.05;
constexpr int kPlannedSeeds[] = {1, 2, 3, 5, 10};

absl::Status UnknownIn(const std::string& what, const std::string& name, const std::set<std::string>& known) {
  return absl::InvalidArgumentError(
      absl::StrCat("--power: ", UnknownName(what, name, std::vector<std::string>(known.begin(), known.end()))));
}

void AddAllocations(const PowerOptions& options, PowerPlan* plan) {
  const bool has_seeds =
      absl::c_all_of(plan->rows, [](const PowerRow& row) { return row.components.seed.has_value(); });
  Allocation* cheapest = nullptr;
  for (const int seeds : kPlannedSeeds) {
    if (seeds > 1 && !has_seeds) break;
    Allocation& allocation = plan->allocations.emplace_back();
    allocation.seeds = seeds;
    allocation.splits = kFewestReplicates;
    for (PowerRow& row : plan->rows) {
      const double variance = VarianceOfSplit(row.components, seeds).value_or(0);
      if (variance <= 0) continue;
      const int splits = ReplicatesToDetect(plan->size / std::sqrt(variance), plan->level);
      if (seeds == 1) row.splits = splits;
      allocation.splits = splits == 0 || allocation.splits == 0 ? 0 : std::max(allocation.splits, splits);
    }
    allocation.cpu_seconds = options.cpu_seconds_of_run * allocation.splits * seeds;
  }
  for (Allocation& allocation : plan->allocations) {
    const bool is_possible =
        allocation.splits > 0 && (options.most_splits == 0 || allocation.splits <= options.most_splits);
    const int runs = allocation.splits * allocation.seeds;
    if (is_possible && (cheapest == nullptr || runs < cheapest->splits * cheapest->seeds)) cheapest = &allocation;
  }
  if (cheapest != nullptr) cheapest->is_cheapest = true;
}

}  // namespace

absl::StatusOr<PowerPlan> MakePowerPlan(const Report& report, const PowerOptions& options) {
  PowerPlan plan;
  plan.metric = options.metric;
  plan.group = options.group;
  plan.baseline = BaselineRow(report, options.baseline);
  std::set<std::string> metrics, groups, rows;
  std::map<Place, const ReportCell*> baselines;
  for (const ReportCell& cell : report.cells) {
    metrics.insert(cell.metric);
    groups.insert(cell.group);
    rows.insert(RowName(cell));
    if (RowName(cell) == plan.baseline) baselines.emplace(PlaceOf(cell), &cell);
  }
  if (report.cells.empty()) return absl::InvalidArgumentError("--power: there are no records");
  if (metrics.count(options.metric) == 0) return UnknownIn("metric", options.metric, metrics);
  if (groups.count(options.group) == 0) return UnknownIn("group", options.group, groups);
  if (plan.baseline.empty()) return UnknownIn("baseline", options.baseline, rows);
  std::vector<std::pair<PowerRow, PairedValues>> found;
  for (const ReportCell& cell : report.cells) {
    if (cell.metric != options.metric || cell.group != options.group) continue;
    plan.display = SharedDisplay(cell);
    const auto baseline = baselines.find(PlaceOf(cell));
    if (RowName(cell) == plan.baseline || baseline == baselines.end()) continue;
    PairedValues pairs = PairWith(cell, *baseline->second);
    const auto components = ComponentsOf(pairs.difference, pairs.draw, pairs.without_blocks);
    if (!components.has_value()) {
      plan.left_out.push_back(RowName(cell));
      continue;
    }
    PowerRow row{RowName(cell), LevelOf(cell), static_cast<int>(pairs.a.size()), 0, *components};
    found.emplace_back(std::move(row), std::move(pairs));
  }
  if (found.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--power: no method has two splits in common with ", plan.baseline,
                     ": a pilot needs two splits; with two seeds of each, their variance is known too"));
  }
  plan.size = options.size / plan.display.factor;
  plan.level = kPlanLevel / static_cast<double>(found.size());
  std::vector<size_t> tested;
  std::vector<PairedTest> tests;
  for (auto& [row, pairs] : found) {
    const absl::StatusOr<PairedTest> test = ComparePairedRuns(pairs.a, pairs.b, pairs.draw);
    if (!test.ok()) return test.status();
    row.mean_difference = test->mean_difference;
    if (test->replicates >= kFewestReplicates && test->p_value.has_value()) {
      tested.push_back(plan.rows.size());
      tests.push_back(*test);
    }
    plan.rows.push_back(row);
  }
  const std::vector<std::optional<double>> detectable = DetectableDifferences(tests, kPlanLevel);
  for (size_t t = 0; t < tested.size(); ++t) plan.rows[tested[t]].detectable = detectable[t];
  AddAllocations(options, &plan);
  return plan;
}

double CpuSecondsOf(absl::Span<const TrialResult> results) {
  std::set<std::string> stages;
  double seconds = 0;
  for (const TrialResult& result : results) {
    if (result.record == nullptr) continue;
    for (const StageProvenance& stage : result.record->provenance().stage()) {
      if (stages.insert(stage.key()).second) seconds += stage.cpu_seconds();
    }
  }
  return seconds;
}

double CpuSecondsOfRun(absl::Span<const TrialResult> results) {
  std::set<std::tuple<std::string, int, uint64_t>> runs;
  for (const TrialResult& result : results) {
    if (result.record != nullptr) runs.insert({result.trial->task(), result.trial->split(), result.trial->seed()});
  }
  return runs.empty() ? 0 : CpuSecondsOf(results) / static_cast<double>(runs.size());
}

}  // namespace openset
