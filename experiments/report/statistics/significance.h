// Which methods of a report differ from its baseline.
#ifndef OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_
#define OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_

#include <string>

#include "experiments/report/report.h"

namespace openset {

// Returns the row of a study's baseline (ReportSpec.baseline): the row with this name, or the first one with the method
// and all values in it ("openauc, lambda 0.1", "openauc", "lambda=0.1"). If the baseline is "", returns the first row.
// Returns "" if there is no such row.
std::string BaselineRow(const Report& report, const std::string& baseline);

// Tests each cell against the baseline's cell (BaselineRow()) of the same task, level, group and metric, paired by
// split and seed and clustered by split (ComparePairedRuns, eval/statistics/paired_tests.h). p-values are corrected by
// Holm's method over all tests of a metric and group, and equal those of `openset compare` with the same baseline. A
// difference is detectable if it is over at least kFewestReplicates (eval/statistics/paired_tests.h), its 95 % interval
// excludes 0, and p is below 0.05. Cells that are not tested (WhyNotTested()) have no p-value and don't count for
// Holm's method. If no cell has two runs in common with the baseline, leaves the report as it is.
void AddSignificance(const std::string& baseline, Report* report);

// "fewer than 3 splits, or seeds of one split", "the same difference in every run"; "" if there was a test.
std::string WhyNotTested(const Significance& significance);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_
