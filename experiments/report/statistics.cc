#include "experiments/report/statistics.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/power.h"
#include "eval/statistics/variance_components.h"

namespace openset {
namespace {

std::optional<double> SpreadOf(double std, absl::Span<const double> values, absl::Span<const int> splits, int n,
                               Spread spread) {
  if (n < 2) return std::nullopt;
  switch (spread) {
    case Spread::kPopulation:
      return std;
    case Spread::kSample:
      return std * std::sqrt(n / (n - 1.0));
    case Spread::kInterval: {
      // The interval of the mean is the interval of its difference from 0.
      const std::vector<double> zeros(values.size(), 0);
      const absl::StatusOr<PairedTest> test = ComparePairedRuns(values, zeros, splits);
      if (!test.ok() || !test->p_value.has_value()) return std::nullopt;
      return (test->high - test->low) / 2;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> SpreadOf(const ReportCell& cell, Spread spread) {
  std::vector<int> draws;
  for (size_t i = 0; i < cell.values.size(); ++i) draws.push_back(DrawOf(cell, i));
  return SpreadOf(cell.std, cell.values, draws, cell.n, spread);
}

std::optional<double> SpreadOf(absl::Span<const double> values, absl::Span<const int> splits, Spread spread) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) squares += (value - sum / n) * (value - sum / n);
  return SpreadOf(std::sqrt(squares / n), values, splits, static_cast<int>(values.size()), spread);
}

std::string SpreadText(Spread spread) {
  switch (spread) {
    case Spread::kPopulation:
      return "population standard deviation over splits and seeds";
    case Spread::kSample:
      return "sample standard deviation over splits and seeds";
    case Spread::kInterval:
      return "half of the 95 % interval of the mean (Student's t over splits, or over seeds with one split)";
  }
  return "";
}

std::string BandText(Spread spread) {
  return spread == Spread::kInterval ? "mean, in its 95 % interval (Student's t)"
                                     : absl::StrCat("mean ± ", SpreadText(spread));
}

absl::StatusOr<Spread> ParseSpread(const std::string& name) {
  if (name == "population") return Spread::kPopulation;
  if (name == "sample") return Spread::kSample;
  if (name == "interval") return Spread::kInterval;
  return absl::InvalidArgumentError(UnknownName("spread", name, {"population", "sample", "interval"}));
}

absl::StatusOr<RunTable> TableOf(const Report& report, const std::string& group) {
  std::vector<RunCell> cells;
  for (const ReportCell& cell : report.cells) {
    std::vector<std::pair<Run, double>> values;
    for (size_t i = 0; i < cell.values.size(); ++i) {
      values.push_back(
          {{absl::StrCat(cell.splits[i]), absl::StrCat(cell.seeds[i]), absl::StrCat(DrawOf(cell, i))}, cell.values[i]});
    }
    cells.push_back({cell.group, cell.metric, RowName(cell), cell.task, absl::StrCat(cell.unknown_classes),
                     std::move(values), SharedDisplay(cell)});
  }
  OPENSET_ASSIGN_OR_RETURN(RunTable table, RunTableOfCells(cells, group));
  table.baseline = report.baseline;
  return table;
}

namespace {

constexpr double kLevel = 0.05;

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

PairedValues PairWith(const ReportCell& cell, const ReportCell& baseline) {
  std::map<std::pair<int, uint64_t>, int> of_run;
  for (int i = 0; i < baseline.n; ++i) of_run[{baseline.splits[i], baseline.seeds[i]}] = i;
  PairedValues pairs;
  const auto without_blocks = [](const ReportCell& of, int run) {
    return static_cast<size_t>(run) < of.without_blocks.size() ? of.without_blocks[run] : std::vector<double>();
  };
  bool has_blocks = true;
  for (int i = 0; i < cell.n; ++i) {
    const auto run = of_run.find({cell.splits[i], cell.seeds[i]});
    if (run == of_run.end()) continue;
    pairs.a.push_back(cell.values[i]);
    const double value = baseline.values[run->second];
    pairs.b.push_back(value);
    pairs.difference.push_back(cell.values[i] - value);
    pairs.draw.push_back(DrawOf(cell, i));
    std::vector<double> without = without_blocks(cell, i);
    const std::vector<double> of_baseline = without_blocks(baseline, run->second);
    has_blocks &= without.size() > 1 && without.size() == of_baseline.size() &&
                  (pairs.without_blocks.empty() || without.size() == pairs.without_blocks[0].size());
    if (!has_blocks) continue;
    for (size_t b = 0; b < without.size(); ++b) without[b] -= of_baseline[b];
    pairs.without_blocks.push_back(std::move(without));
  }
  if (!has_blocks) pairs.without_blocks.clear();
  return pairs;
}

void AddSignificance(const std::string& baseline, Report* report) {
  const std::string row = BaselineRow(*report, baseline);
  std::map<Place, const ReportCell*> baselines;
  for (const ReportCell& cell : report->cells) {
    if (RowName(cell) == row) baselines.emplace(PlaceOf(cell), &cell);
  }
  struct Tested {
    std::vector<ReportCell*> cells;
    std::vector<PairedTest> tests;  // of the cells
  };
  std::map<std::pair<std::string, std::string>, Tested> families;  // by metric and group
  bool any = false;  // whether two methods have two runs in common somewhere
  for (ReportCell& cell : report->cells) {
    const auto of_baseline = baselines.find(PlaceOf(cell));
    if (RowName(cell) == row || of_baseline == baselines.end() || cell.n == 0) continue;
    Significance& found = cell.significance.emplace();
    const PairedValues pairs = PairWith(cell, *of_baseline->second);
    const absl::StatusOr<PairedTest> test = ComparePairedRuns(pairs.a, pairs.b, pairs.draw);
    if (!test.ok()) continue;  // fewer than two runs in common
    any = true;
    found.replicates = test->replicates;
    found.of_seeds = test->splits == 1;
    if (test->replicates < kFewestReplicates) continue;
    found.is_constant = test->differences == Differences::kSame;
    if (test->p_value.has_value()) {
      Tested& tested = families[{cell.metric, cell.group}];
      tested.cells.push_back(&cell);
      tested.tests.push_back(*test);
      const auto components = ComponentsOf(pairs.difference, pairs.draw, pairs.without_blocks);
      if (components.has_value()) found.shares = SharesOf(*components);
    }
  }
  if (!any) {
    for (ReportCell& cell : report->cells) cell.significance.reset();
    return;
  }
  report->baseline = row;
  for (const auto& [family, tested] : families) {
    std::vector<double> p_values;
    for (const PairedTest& test : tested.tests) p_values.push_back(*test.p_value);
    const std::vector<double> adjusted = HolmAdjusted(p_values);
    const std::vector<std::optional<double>> detects = DetectableDifferences(tested.tests, kLevel);
    for (size_t i = 0; i < tested.cells.size(); ++i) {
      Significance& found = *tested.cells[i]->significance;
      found.p_value = adjusted[i];
      found.detects = detects[i];
      found.detectable = tested.tests[i].verdict != Verdict::kNoDetectableDifference && adjusted[i] < kLevel;
    }
  }
}

std::string WhyNotTested(const Significance& significance) {
  if (significance.p_value.has_value()) return "";
  if (significance.is_constant) return "the same difference in every run";
  return absl::StrCat("fewer than ", kFewestReplicates, " splits, or seeds of one split");
}

}  // namespace openset
