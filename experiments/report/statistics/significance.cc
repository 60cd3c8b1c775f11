#include "experiments/report/statistics/significance.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/several_methods.h"
#include "eval/statistics/verdict.h"
#include "experiments/report/levels.h"

namespace openset {
namespace {

constexpr double kLevel = 0.05;

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
    double p_value;
    Verdict verdict;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Tested>> families;  // by metric and group
  bool any = false;  // whether two methods have two runs in common somewhere
  for (ReportCell& cell : report->cells) {
    const auto of_baseline = baselines.find(PlaceOf(cell));
    if (RowName(cell) == row || of_baseline == baselines.end() || cell.n == 0) continue;
    Significance& found = cell.significance.emplace();
    const absl::StatusOr<PairedTest> test = Test(cell, *of_baseline->second);
    if (!test.ok()) continue;  // fewer than two runs in common
    any = true;
    found.replicates = test->replicates;
    found.of_seeds = test->splits == 1;
    if (test->replicates < kFewestReplicates) continue;
    found.is_constant = test->differences == Differences::kSame;
    if (test->p_value.has_value()) {
      families[{cell.metric, cell.group}].push_back({&cell, *test->p_value, test->verdict});
    }
  }
  if (!any) {
    for (ReportCell& cell : report->cells) cell.significance.reset();
    return;
  }
  report->baseline = row;
  for (const auto& [family, tests] : families) {
    std::vector<double> p_values;
    for (const Tested& tested : tests) p_values.push_back(tested.p_value);
    const std::vector<double> adjusted = HolmAdjusted(p_values);
    for (size_t i = 0; i < tests.size(); ++i) {
      Significance& found = *tests[i].cell->significance;
      found.p_value = adjusted[i];
      found.detectable = tests[i].verdict != Verdict::kNoDetectableDifference && adjusted[i] < kLevel;
    }
  }
}

std::string WhyNotTested(const Significance& significance) {
  if (significance.p_value.has_value()) return "";
  if (significance.is_constant) return "the same difference in every run";
  return absl::StrCat("fewer than ", kFewestReplicates, " splits, or seeds of one split");
}

}  // namespace openset
