// The numbers of a report as text.
#ifndef OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "core/text/wrapped_text.h"
#include "experiments/report/report.h"
#include "nlohmann/json.hpp"

namespace openset {

enum class ReportFormat { kText, kMarkdown, kLatex, kCsv, kJson };

// "text", "markdown", "latex", "csv", "json". Errors: kInvalidArgument with the known ones.
absl::StatusOr<ReportFormat> ParseReportFormat(const std::string& name);

// Text, Markdown and LaTeX (a table environment each, with the rules of booktabs) show mean ± std over splits and seeds
// (of a single run the interval, where one was asked for), in the metric's unit (eval/metrics/display.h); the last two
// have the best mean of a column bold and the second best underlined, among those of all runs and where two or more
// differ. Several sets of unknown samples have a table of their own. Text has at most `width` columns. CSV has a line a
// cell, JSON all of it; both hold numbers as they are, in full precision.
std::string FormatReport(const Report& report, ReportFormat format, size_t width = kTextWidth);

// What kJson writes, but for each record's id, keys and learning curve ("results"); without values also for those of
// single trials ("values", "splits", "seeds", "low", "high").
nlohmann::ordered_json ReportJson(const Report& report, bool with_values = true);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_
