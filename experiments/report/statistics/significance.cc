#include "experiments/report/statistics/significance.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/several_methods.h"

namespace openset {
namespace {

constexpr double kLevel = 0.05;

// The key of a cell without its row: task, known and unknown classes, group, metric.
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

// Whether a cell's row has all values that a baseline names.
bool HasAll(const ReportCell& cell, const std::string& baseline) {
  return absl::c_all_of(absl::StrSplit(baseline, ", "), [&](absl::string_view part) {
    return part == cell.method || absl::c_any_of(cell.axis, [&](const AxisValue& axis) {
             return part == absl::StrCat(axis.name(), " ", axis.value()) ||
                    part == absl::StrCat(axis.name(), "=", axis.value());
           });
  });
}

}  // namespace

std::string BaselineRow(const Report& report, const std::string& baseline) {
  for (const ReportCell& cell : report.cells) {
    if (baseline.empty() || RowName(cell) == baseline) return RowName(cell);
  }
  for (const ReportCell& cell : report.cells) {
    if (HasAll(cell, baseline)) return RowName(cell);
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
    PairedTest test;
  };
  using Family = std::pair<std::string, std::string>;  // metric and group
  std::map<Family, std::pair<std::vector<Tested>, std::vector<double>>> families;
  for (ReportCell& cell : report->cells) {
    const auto of_baseline = baselines.find(PlaceOf(cell));
    if (RowName(cell) == row || of_baseline == baselines.end()) continue;
    const absl::StatusOr<PairedTest> test = Test(cell, *of_baseline->second);
    if (!test.ok() || !test->p_value.has_value()) continue;
    auto& [tested, p_values] = families[{cell.metric, cell.group}];
    tested.push_back({&cell, *test});
    p_values.push_back(*test->p_value);
  }
  for (auto& [family, tests] : families) {
    const std::vector<double> adjusted = HolmAdjusted(tests.second);
    for (size_t i = 0; i < adjusted.size(); ++i) {
      const Tested& tested = tests.first[i];
      const bool differs = tested.test.verdict != Verdict::kNoDetectableDifference;
      tested.cell->significance =
          Significance{adjusted[i], differs && adjusted[i] < kLevel, tested.test.replicates, tested.test.splits == 1};
    }
  }
  if (!families.empty()) report->baseline = row;
}

}  // namespace openset
