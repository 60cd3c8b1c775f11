// Writes a study's report in every format and prints it, with hints, in the width of the terminal.
#ifndef OPENSET_TOOLS_CLI_REPORT_FILES_H_
#define OPENSET_TOOLS_CLI_REPORT_FILES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eval/report/document.h"
#include "experiments/report/report.h"
#include "experiments/store/record.proto.h"
#include "experiments/study/study.h"

namespace openset {

// ---- The width of tables in text.

// Returns the number of columns of the terminal, at least 40. If standard output is not a terminal, returns kTextWidth
// (core/text/wrapped_text.h), so that output in files and pipes is always the same.
size_t TableWidth();

// ---- Likely mistakes in a study's results, and what to check, for the lines after its table.

// Returns a line for each hint (experiments/report/hints.h): at most three of a kind, then how many more there are.
// Names the flags to change for a study that `openset score` made, and the fields for other studies.
std::vector<std::string> HintLines(const Study& study, const StudyResults& results);

// ---- The report of a study on screen and in the store.

// Returns kInvalidArgument if the name of the file `out` ends like another format than `format`, or like a format that
// reports don't have (".parquet"). Other names, and an empty one, are fine.
absl::Status CheckReportName(TextFormat format, const std::string& out);

// The layout of tables in text, Markdown and LaTeX.
struct ReportLayout {
  // Fields instead of the spec's (experiments/report/report_tables.h). If both are empty, the spec's.
  std::vector<std::string> rows, columns;
  Spread spread = Spread::kPopulation;
  std::optional<int> digits;  // after the point; absent: as each metric has them
  std::string sort_by;        // the metric whose best rows come first
};

// Makes the report of a study's results in a format. kTidy is a row for each trial and metric
// (experiments/report/exports.h). `width`: of text. Errors: kInvalidArgument for an unknown field or metric, with the
// known ones; kNotFound if the program's own files for HTML are missing. Precondition: the format is not kTensorBoard.
absl::StatusOr<std::string> ReportAs(TextFormat format, const Study& study, const StudyResults& results,
                                     const ReportLayout& layout, size_t width);

// The same for records without a study, under `name`, with further `notes`. Methods are in the order of `spec`, which
// may be empty. It has no baseline, no spec and no images of mistakes.
absl::StatusOr<std::string> RecordsReportAs(TextFormat format, const std::string& name, const ExperimentSpec& spec,
                                            std::vector<TrialRecord> records, const ReportLayout& layout, size_t width,
                                            const std::vector<std::string>& notes = {});

// Writes the report in every format below the store's reports/, prints it as text, says where it and the records are,
// and prints likely mistakes to standard error. With `keep_fuller`, tables of the same spec that have
// more results stay, so that a failed run doesn't replace them by tables with dashes.
absl::Status WriteAndShowReport(const Study& study, bool keep_fuller);

// Writes an event file for each trial below `folder` (experiments/report/exports.h), replaces earlier ones, and
// says how many it wrote. Errors: kUnavailable if records can't be read now; kFailedPrecondition without a record; a
// write error (core/files/files.h).
absl::Status WriteTensorBoard(const Study& study, const std::string& folder);

// The path of the study's page in the store: reports/NAME/report.html.
std::string ReportPagePath(const Study& study);

// Writes only that page, with the records so far and without images, which would make a run wait. Does nothing for a
// study that is in no file. Errors: kNotFound if the program's own files for HTML are missing; a write error. Records
// that can't be read are missing on the page.
absl::Status WriteReportPage(const Study& study);

// "the tables in FOLDER ... are of another form of this study"; "" if they aren't.
std::string StaleTablesText(const Study& study);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_REPORT_FILES_H_
