// A report as one HTML page that works offline: tables that can be sorted and filtered, plots, provenance.
#ifndef OPENSET_EXPERIMENTS_REPORT_HTML_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_HTML_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/chart/page.h"
#include "experiments/report/charts/detail_charts.h"
#include "experiments/report/examples.h"
#include "experiments/report/report.h"
#include "experiments/spec/spec_changes.h"

namespace openset {

// Everything on the page apart from the numbers.
struct ReportContext {
  std::string question;
  std::string spec;  // the text of the spec
  // If the command line changed the spec: its lines after the change, shown instead of `spec`.
  std::vector<SpecLine> changed_spec;
  std::vector<std::string> failures;  // what failed, and the end of its log
  ExampleContext examples;            // for ExamplesOf(results)
};

// The trials whose decisions and mistakes the page shows: the first of each method, at most 24.
std::vector<ExampleTrial> ExamplesOf(absl::Span<const TrialResult> results);

// The page with its data. The page contains ReportJson() as `openset.data.report`, in a shorter form: values that all
// cells of a metric share appear once, and the numbers of single trials are left out if there are more than 20,000.
// Errors: kNotFound if the program's own files are missing.
absl::StatusOr<ChartPage> ReportPage(const Report& report, absl::Span<const TrialResult> results,
                                     const ReportContext& context);

// The page as HTML.
absl::StatusOr<std::string> HtmlReport(const Report& report, absl::Span<const TrialResult> results,
                                       const ReportContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_HTML_REPORT_H_
