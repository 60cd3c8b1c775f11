#include "experiments/report/report_lines.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiments/report/statistics/spread.h"

namespace openset {
namespace {

// Why trials have no record, a line each.
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

// How many splits there are of the task that has most.
size_t SplitsOf(const Report& report) {
  size_t most = 0;
  for (const ReportCell& cell : report.cells) {
    most = std::max(most, std::set<int>(cell.splits.begin(), cell.splits.end()).size());
  }
  return most;
}

// " (n = 6 splits)", " (n = 2 to 5 seeds)": of the tests of all cells; "" if there are none.
std::string TestedText(const Report& report) {
  int least = 0, most = 0, splits = 0;
  for (const ReportCell& cell : report.cells) {
    if (!cell.significance.has_value() || cell.significance->replicates == 0) continue;
    const int n = cell.significance->replicates;
    least = most == 0 ? n : std::min(least, n);
    most = std::max(most, n);
    splits = std::max(splits, cell.significance->splits);
  }
  if (most == 0) return "";
  return absl::StrCat(" (n = ", least, least < most ? absl::StrCat(" to ", most) : "",
                      splits > 1 ? " splits" : " seeds", ")");
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
  const int most = report.cells.empty() ? 0 : report.cells[0].n + report.cells[0].missing;
  std::vector<std::string> lines = {"One run: no spread."};
  if (most != 1) {
    lines = {absl::StrCat("Mean ± ", SpreadText(report.spread), most > 0 ? absl::StrCat(" (n=", most, ")") : "", ".")};
  }
  for (std::string& line : MissingLines(report)) lines.push_back(std::move(line));
  if (!report.baseline.empty()) {
    lines.push_back(StarText(report));
    if (SplitsOf(report) == 2) lines.push_back("With 2 splits only large differences are found; take 5.");
  }
  if (report.waiting > 0) {
    lines.push_back(absl::StrCat("Tuned trials that wait for their search: ", report.waiting, "."));
  }
  return lines;
}

std::string StarText(const Report& report) {
  return absl::StrCat("* differs from ", report.baseline,
                      ": t test of differences paired by split and seed, clustered by split", TestedText(report),
                      ", Holm's p < 0.05 over all tests of a metric and group, as in `openset compare`.");
}

}  // namespace openset
