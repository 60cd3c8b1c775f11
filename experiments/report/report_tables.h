// A report's numbers as tables of text.
#ifndef OPENSET_EXPERIMENTS_REPORT_REPORT_TABLES_H_
#define OPENSET_EXPERIMENTS_REPORT_REPORT_TABLES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/text/table.h"
#include "experiments/report/report.h"

namespace openset {

struct TitledTable {
  std::string title;
  Table table;
};

// "62.50 ± 12.50", of a single run "87.50" with its interval where one was asked for; "(n=1)" where runs are missing;
// "*" where it differs from the baseline; "-" without a record, "undefined" where the metric is.
std::string CellText(const ReportCell& cell, Spread spread = Spread::kPopulation);

// Whether `report` has these fields (ReportSpec.row, ReportSpec.column). Errors: kInvalidArgument, with `flag` and the
// known ones, for another name and for a field that is listed twice.
absl::Status CheckLayout(const Report& report, const std::string& flag, const std::vector<std::string>& fields);

// Errors: kInvalidArgument, with `flag` and the known ones, for a metric that `report` does not have.
absl::Status CheckSort(const Report& report, const std::string& flag, const std::string& metric);

// By `report.rows` and `report.columns`; where both are empty one table a task and level of openness, with a row a
// method and its axis values and a column a metric, and, where there are several sets of unknown samples, a second one
// with a row for each of them. A field that is in neither has a table for each of its values; splits and seeds are
// averaged. The best mean of a metric is marked in each column, or, where metrics are rows, in each row, and the second
// best, where two or more differ. With `report.sort_by` the rows with the best mean of that metric come first, and
// those without one last.
std::vector<TitledTable> ReportTables(const Report& report);

// Ours, the published number and the difference, one table a task and level; empty where there are none. The last
// column has the numbers of `notes` (from 1): where it is from, what the difference may be due to, doubts.
std::vector<TitledTable> PublishedTables(const Report& report, std::vector<std::string>* notes);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_REPORT_TABLES_H_
