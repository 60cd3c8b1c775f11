// A report as one HTML page that works offline: tables that can be sorted and filtered, plots, provenance.
#ifndef OPENSET_EXPERIMENTS_REPORT_HTML_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_HTML_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/chart/page.h"
#include "experiments/report/charts/detail_charts.h"
#include "experiments/report/examples/example_data.h"
#include "experiments/report/report.h"
#include "experiments/spec/changed_spec.h"

namespace openset {

// What a page says beside the numbers.
struct ReportContext {
  std::string question;
  std::string spec;  // its text, as written
  // The lines of what the command line made of it, if it laid something over it: shown instead of `spec`.
  std::vector<SpecLine> changed_spec;
  std::vector<std::string> failures;  // a line or more each: what failed, and the end of its log
  ExampleContext examples;            // of ExamplesOf(results)
};

// The trials whose decisions and mistakes the page shows: the first of each method, at most 24.
std::vector<ExampleTrial> ExamplesOf(absl::Span<const TrialResult> results);

// The tables' means are those of ReportJson(), which the page holds (`openset.data.report`) with what a metric's cells
// have in common said once, and without the values of single trials where these are more than 20,000. Errors: those of
// ToHtmlPage() (core/chart/page.h).
absl::StatusOr<ChartPage> ReportPage(const Report& report, absl::Span<const TrialResult> results,
                                     const ReportContext& context);

// That page as HTML.
absl::StatusOr<std::string> HtmlReport(const Report& report, absl::Span<const TrialResult> results,
                                       const ReportContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_HTML_REPORT_H_
