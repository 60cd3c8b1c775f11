#include "experiments/report/significance.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/several_methods.h"

namespace openset {
namespace {

constexpr double kLevel = 0.05;

// All but the row: task, known and unknown classes, group, metric.
using Place = std::tuple<std::string, int, int, std::string, std::string>;

Place PlaceOf(const ReportCell& cell) {
  return {cell.task, cell.known_classes, cell.unknown_classes, cell.group, cell.metric};
}

absl::StatusOr<PairedTest> Test(const ReportCell& cell, const ReportCell& baseline) {
  std::map<std::pair<int, uint64_t>, double> of_run;
  for (int i = 0; i < baseline.n; ++i) of_run[{baseline.splits[i], baseline.seeds[i]}] = baseline.values[i];
  std::vector<double> a, b;
  std::vector<int> splits;
  for (int i = 0; i < cell.n; ++i) {
    const auto run = of_run.find({cell.splits[i], cell.seeds[i]});
    if (run == of_run.end()) continue;
    a.push_back(cell.values[i]);
    b.push_back(run->second);
    splits.push_back(cell.splits[i]);
  }
  return ComparePairedRuns(a, b, splits);
}

}  // namespace

std::string BaselineRow(const Report& report, const std::string& baseline) {
  for (const ReportCell& cell : report.cells) {
    if (baseline.empty() || cell.method == baseline || RowName(cell) == baseline) return RowName(cell);
  }
  return "";
}

void AddSignificance(const std::string& baseline, Report* report) {
  const std::string row = BaselineRow(*report, baseline);
  std::map<Place, const ReportCell*> baselines;
  for (const ReportCell& cell : report->cells) {
    if (RowName(cell) == row) baselines.emplace(PlaceOf(cell), &cell);
  }
  struct Tested {
    ReportCell* cell;
    bool leaves_out_zero;
  };
  std::map<std::string, std::pair<std::vector<Tested>, std::vector<double>>> by_metric;
  for (ReportCell& cell : report->cells) {
    const auto of_baseline = baselines.find(PlaceOf(cell));
    if (RowName(cell) == row || of_baseline == baselines.end()) continue;
    const absl::StatusOr<PairedTest> test = Test(cell, *of_baseline->second);
    if (!test.ok() || !test->p_value.has_value()) continue;
    auto& [tested, p_values] = by_metric[cell.metric];
    tested.push_back({&cell, test->low > 0 || test->high < 0});
    p_values.push_back(*test->p_value);
  }
  for (auto& [metric, tests] : by_metric) {
    const std::vector<double> adjusted = HolmAdjusted(tests.second);
    for (size_t i = 0; i < adjusted.size(); ++i) {
      const Tested& tested = tests.first[i];
      tested.cell->significance = Significance{adjusted[i], tested.leaves_out_zero && adjusted[i] < kLevel};
    }
  }
  if (!by_metric.empty()) report->baseline = row;
}

}  // namespace openset
