#include "experiments/report/titles.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace openset {

std::string TitledRow(const Report& report, const std::string& row) {
  const std::string method = row.substr(0, row.find(", "));
  const auto title = report.titles.find(method);
  if (title == report.titles.end()) return row;
  const auto has_title = [&](const auto& other) { return other.second == title->second; };
  if (absl::c_count_if(report.titles, has_title) > 1) return row;
  return absl::StrCat(title->second, row.substr(method.size()));
}

Report WithTitles(const Report& report) {
  Report titled = report;
  for (ReportCell& cell : titled.cells) cell.method = TitledRow(report, cell.method);
  titled.baseline = TitledRow(report, report.baseline);
  return titled;
}

}  // namespace openset
