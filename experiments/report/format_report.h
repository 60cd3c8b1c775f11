// The numbers of a report as text.
#ifndef OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "experiments/report/report.h"

namespace openset {

enum class ReportFormat { kText, kMarkdown, kCsv, kJson };

// "text", "markdown", "csv", "json". Errors: kInvalidArgument with the known ones.
absl::StatusOr<ReportFormat> ParseReportFormat(const std::string& name);

// Text and Markdown show mean ± std over splits and seeds (of a single run the interval, where one was asked for), in
// the metric's unit (eval/metrics/display.h); several sets of unknown samples have a table of their own. CSV has a line
// a cell, JSON all of it; both hold numbers as they are, in full precision.
std::string FormatReport(const Report& report, ReportFormat format);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_
