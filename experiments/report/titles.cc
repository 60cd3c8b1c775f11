#include "experiments/report/titles.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace openset {

namespace {

// A tuned method has the title of the method that was tuned (kTunedSuffix in experiments/plan/search.h).
std::string TitleOf(const std::string& method, const std::string& title) {
  constexpr char kTuned[] = " (tuned)";
  return absl::StrCat(title, absl::EndsWith(method, kTuned) ? kTuned : "");
}

}  // namespace

std::string TitledRow(const Report& report, const std::string& row) {
  const std::string method = row.substr(0, row.find(", "));
  const auto title = report.titles.find(method);
  if (title == report.titles.end()) return row;
  const std::string own = TitleOf(method, title->second);
  const auto has_title = [&](const auto& other) { return TitleOf(other.first, other.second) == own; };
  if (absl::c_count_if(report.titles, has_title) > 1) return row;
  return absl::StrCat(own, row.substr(method.size()));
}

Report WithTitles(const Report& report) {
  Report titled = report;
  for (ReportCell& cell : titled.cells) cell.method = TitledRow(report, cell.method);
  titled.baseline = TitledRow(report, report.baseline);
  return titled;
}

}  // namespace openset
