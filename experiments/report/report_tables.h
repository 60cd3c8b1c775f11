// Tables of text with the numbers of a report.
#ifndef OPENSET_EXPERIMENTS_REPORT_REPORT_TABLES_H_
#define OPENSET_EXPERIMENTS_REPORT_REPORT_TABLES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/text/table.h"
#include "eval/report/document.h"
#include "experiments/report/report.h"

namespace openset {

// "62.50 ± 12.50"; for a single run "87.50", with its interval if there is one. Followed by "*" if it differs from the
// baseline, by "†" if it is among the best (ReportCell.among_best), and by "(n=1)" if runs are missing. "-" without a
// record; "undefined" if the metric is undefined.
std::string CellText(const ReportCell& cell, Spread spread = Spread::kPopulation);

// Checks that `report` has these fields (ReportSpec.row, ReportSpec.column). Errors: kInvalidArgument, with `flag` and
// the known fields, for an unknown name or a field that is listed twice.
absl::Status CheckLayout(const Report& report, const std::string& flag, const std::vector<std::string>& fields);

// Checks that `report` has this metric. Errors: kInvalidArgument, with `flag` and the known metrics.
absl::Status CheckSort(const Report& report, const std::string& flag, const std::string& metric);

// Tables by `report.rows` and `report.columns`. If both are empty: one table for each level
// (experiments/report/report.h) with a row for each method and its axis values and a column for each metric; and, if
// there are several sets of unknown samples, a table for each metric with a column for each set. Otherwise, each value
// of the remaining fields has its own table; splits and seeds are averaged. The best and the second best mean are
// marked in each column (in each row: BestOfRows()), among the cells that can be compared (PlaceOf(),
// experiments/report/report.h), if at least two means differ. With `report.sort_by`, the rows with the best mean of
// that metric come first, and rows without it last; rows of sets are in the order of all samples. Means over one set
// (ReportCell.mean_of_one) are left out.
std::vector<DocumentSection> ReportTables(const Report& report);

// Whether the tables compare the cells of a row: columns are methods, or rows are metrics of all methods.
bool BestOfRows(const Report& report);

// For each cell of the report, its mark in the tables without `rows` and `columns`: the best and the second best mean
// of a metric on one level and group, among cells with all runs.
std::vector<Emphasis> BestMarks(const Report& report);

// One table for each level: our number, the published number and the difference. Empty if there are no published
// numbers. The last column refers to `notes`, counted from 1: the source, possible reasons for the difference, doubts.
std::vector<DocumentSection> PublishedTables(const Report& report, std::vector<std::string>* notes);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_REPORT_TABLES_H_
