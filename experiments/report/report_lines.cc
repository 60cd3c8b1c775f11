#include "experiments/report/report_lines.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/report/report_tables.h"
#include "experiments/report/statistics/significance.h"
#include "experiments/report/statistics/spread.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

// The reasons why trials have no record, one per line.
std::vector<std::string> MissingLines(const Report& report) {
  constexpr size_t kMostNamed = 6;
  std::vector<std::string> lines;
  const auto of_trials = [&](int count) { return absl::StrCat(count, " of ", report.trials, " trials "); };
  if (report.failed > 0) {
    const std::vector<std::string>& all = report.failed_lines;
    const std::vector<std::string> named(all.begin(), all.begin() + std::min(all.size(), kMostNamed));
    lines.push_back(absl::StrCat(of_trials(report.failed), "failed: ", absl::StrJoin(named, "; "),
                                 all.size() > kMostNamed ? "; ..." : "", "."));
  }
  if (report.unevaluated > 0) {
    lines.push_back(absl::StrCat(of_trials(report.unevaluated), report.unevaluated == 1 ? "lacks" : "lack",
                                 " only the evaluation by exactly these metrics: `openset run` makes ",
                                 report.unevaluated == 1 ? "it" : "them", " without training."));
  }
  if (const int others = report.missing - report.unevaluated - report.failed; others > 0) {
    lines.push_back(absl::StrCat(of_trials(others), "have no record yet."));
  }
  return lines;
}

// "5", "3 to 5".
std::string RangeText(const std::set<int>& counts) {
  return counts.size() < 2 ? absl::StrCat(counts.empty() ? 0 : *counts.begin())
                           : absl::StrCat(*counts.begin(), " to ", *counts.rbegin());
}

// "5 splits", "3 to 5 splits", "4 seeds of one split": the runs that tests compare, or would compare.
std::string ReplicatesText(const Report& report, bool tested) {
  std::set<int> splits, seeds;
  for (const ReportCell& cell : report.cells) {
    if (!cell.significance.has_value() || cell.significance->replicates == 0) continue;
    if (cell.significance->p_value.has_value() != tested) continue;
    (cell.significance->of_seeds ? seeds : splits).insert(cell.significance->replicates);
  }
  std::vector<std::string> parts;
  if (!splits.empty()) parts.push_back(absl::StrCat(RangeText(splits), " splits"));
  if (!seeds.empty()) parts.push_back(absl::StrCat(RangeText(seeds), " seeds of one split"));
  return absl::StrJoin(parts, ", or ");
}

// "fewer than 3 splits, or seeds of one split (b, c); the same difference in every run (d by accuracy)": which cells
// were not tested against the baseline, and why.
std::string NotTestedText(const Report& report) {
  constexpr size_t kMostNamed = 6;
  std::map<std::string, std::vector<std::string>> rows;  // by reason
  for (const ReportCell& cell : report.cells) {
    if (!cell.significance.has_value() || cell.significance->p_value.has_value()) continue;
    std::string row = RowName(cell);
    if (cell.significance->is_constant) absl::StrAppend(&row, " by ", cell.display.label);
    std::vector<std::string>& of_reason = rows[WhyNotTested(*cell.significance)];
    if (!absl::c_linear_search(of_reason, row)) of_reason.push_back(std::move(row));
  }
  return absl::StrJoin(rows, "; ", [&](std::string* out, const auto& reason) {
    const std::vector<std::string>& all = reason.second;
    const std::vector<std::string> named(all.begin(), all.begin() + std::min(all.size(), kMostNamed));
    absl::StrAppend(out, reason.first, " (", absl::StrJoin(named, ", "), all.size() > kMostNamed ? ", ...)" : ")");
  });
}

}  // namespace

std::vector<std::string> HeadLines(const Report& report) {
  std::vector<std::string> lines = report.data_lines;
  if (!report.overrides.empty()) {
    lines.push_back(absl::StrCat("Changed on the command line: ", absl::StrJoin(report.overrides, " ")));
  }
  return lines;
}

std::vector<std::string> FooterLines(const Report& report) {
  std::vector<std::string> lines = {absl::StrCat(MeanText(report), ".")};
  for (std::string& line : MissingLines(report)) lines.push_back(std::move(line));
  if (!report.baseline.empty()) lines.push_back(StarText(report));
  if (report.waiting > 0) {
    lines.push_back(absl::StrCat("Tuned trials that wait for their search: ", report.waiting, "."));
  }
  return lines;
}

std::string MeanText(const Report& report) {
  std::set<int> runs;
  for (const ReportCell& cell : report.cells) {
    if (cell.n > 0 && !IsIncomplete(cell)) runs.insert(cell.n);  // other cells show their number in the table
  }
  if (runs.empty() && !report.cells.empty()) runs.insert(report.cells[0].n + report.cells[0].missing);
  if (runs == std::set<int>{1}) return "One run: no spread";
  return absl::StrCat("Mean ± ", SpreadText(report.spread),
                      runs.empty() ? "" : absl::StrCat(" (n=", RangeText(runs), ")"));
}

std::string MarkText(const Report& report) {
  const bool of_groups =
      !report.rows.empty() || absl::c_any_of(report.cells, [](const ReportCell& cell) { return cell.group != kPool; });
  return absl::StrCat("Bold: the best mean of its ", BestOfRows(report) ? "row" : "column",
                      of_groups ? ", for the same task and unknown samples" : "",
                      "; underlined: the second best; among methods with all runs, by the mean alone, without a test.");
}

std::string StarText(const Report& report) {
  const bool tested = absl::c_any_of(report.cells, [](const ReportCell& cell) {
    return cell.significance.has_value() && cell.significance->p_value.has_value();
  });
  const std::string not_tested = NotTestedText(report);
  if (!tested) {
    const std::string over = ReplicatesText(report, false);
    return absl::StrCat("No stars: not tested against ", report.baseline, ": ", not_tested,
                        over.empty() ? "" : absl::StrCat("; here are ", over), ". Take 5.");
  }
  return absl::StrCat("* differs from ", report.baseline,
                      ": two-sided t test of differences paired by split and seed, over ", ReplicatesText(report, true),
                      " (seeds of a split are averaged first), Holm's p < 0.05 over all tests of a metric and "
                      "group, as in `openset compare`.",
                      not_tested.empty() ? "" : absl::StrCat(" Not tested, so without a star: ", not_tested, "."));
}

}  // namespace openset
