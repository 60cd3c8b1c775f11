// The report of an experiment on screen and in the store.
#ifndef OPENSET_TOOLS_CLI_REPORT_FILES_H_
#define OPENSET_TOOLS_CLI_REPORT_FILES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/report/report.h"
#include "experiments/store/record.proto.h"
#include "experiments/study/study.h"

namespace openset {

// kInvalidArgument, with the known ones, for a format that ReportAs() has not.
absl::Status CheckReportFormat(const std::string& format);

// kInvalidArgument if the file `out` has the ending of another format than `format`, or of one that no report has, as
// ".parquet". Other names, and none, are fine.
absl::Status CheckReportName(const std::string& format, const std::string& out);

// How tables of text, Markdown and LaTeX are laid out.
struct ReportLayout {
  // Fields in place of the spec's (experiments/report/report_tables.h); both empty: the spec's.
  std::vector<std::string> rows, columns;
  Spread spread = Spread::kPopulation;
  std::optional<int> digits;  // behind the point; absent: those of each metric
  std::string sort_by;        // the metric whose best rows come first
};

// The report of a study's results in a format by name: those of ParseReportFormat(), "html", and "tidy" (a row a trial
// and metric, experiments/report/tidy.h). `width`: that of text. Errors: kInvalidArgument with the known ones, also of
// fields and metrics; those of HtmlReport().
absl::StatusOr<std::string> ReportAs(const std::string& format, const Study& study, const StudyResults& results,
                                     const ReportLayout& layout, size_t width);

// The same of records alone, under `name`: without a baseline, a spec and the images of mistakes.
absl::StatusOr<std::string> RecordsReportAs(const std::string& format, const std::string& name,
                                            std::vector<TrialRecord> records, const ReportLayout& layout, size_t width);

// Writes the report in every format below the store's reports/, prints it as text and says where it and the records
// are, and on standard error what looks like a mistake (tools/cli/result_hints.h). With `keep_fuller` one that is there
// and has more results stays: a failed run does not put dashes in its place.
absl::Status WriteAndShowReport(const Study& study, bool keep_fuller);

// Writes an event file for each trial below `folder` (experiments/report/tensorboard.h), in the place of those it has
// of it, and says how many. Errors: those of reading records and of writing; kFailedPrecondition without a record.
absl::Status WriteTensorBoard(const Study& study, const std::string& folder);

// The store's page of the study: reports/NAME/report.html.
std::string ReportPagePath(const Study& study);

// Writes that page only, with the records there are so far and without images: a run that goes on does not wait for
// them. Nothing is done for a study that is in no file. Errors: those of reading records and of writing.
absl::Status WriteReportPage(const Study& study);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_REPORT_FILES_H_
