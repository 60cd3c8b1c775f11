// Which methods of a report differ from its baseline.
#ifndef OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_
#define OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_

#include <string>

#include "experiments/report/report.h"

namespace openset {

// Returns the row that is the study's baseline (ReportSpec.baseline): the row with that name, or the first row with the
// method and all values that `baseline` names ("openauc, lambda 0.1", "openauc", "lambda=0.1"). If `baseline` is "",
// returns the first row. Returns "" if there is no such row.
std::string BaselineRow(const Report& report, const std::string& baseline);

// Tests each cell against the baseline's cell with the same task, level, group and metric, paired by split and seed and
// clustered by split (ComparePairedRuns, eval/statistics/paired_tests.h). p-values are corrected by Holm's method over
// all tests of a metric and group; they equal those of `openset compare` against the same baseline. The baseline's row
// is BaselineRow(). A difference is detectable if it has at least kFewestReplicates replicates
// (eval/statistics/paired_tests.h), its 95 % interval excludes 0, and p is below 0.05. Cells with fewer than two runs
// in common with the baseline, and cells whose differences have no variance to test with, get no test.
void AddSignificance(const std::string& baseline, Report* report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_
