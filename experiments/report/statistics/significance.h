// Which methods of a report differ from its baseline.
#ifndef OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_
#define OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_

#include <string>

#include "experiments/report/report.h"

namespace openset {

// The row that a study calls its baseline (ReportSpec.baseline): that of the name, or the first one with the method and
// all values that it names: "openauc, lambda 0.1", "openauc", "lambda=0.1"; "": the first of all. "" if there is
// none.
std::string BaselineRow(const Report& report, const std::string& baseline);

// Tests each cell against that of the baseline with the same task, level, group and metric, paired by split and seed,
// clustered by split (ComparePairedRuns, eval/statistics/paired_tests.h); p-values are Holm's over all tests of a
// metric and group, so those of `openset compare` against the same baseline. The baseline's row is BaselineRow(). A
// difference is detectable where it is over kFewestReplicates (eval/statistics/paired_tests.h) or more, its 95 %
// interval leaves out 0 and p is below 0.05. Cells with fewer than two runs in
// common with the baseline's, and those whose differences leave no variance to test with, get no test.
void AddSignificance(const std::string& baseline, Report* report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_STATISTICS_SIGNIFICANCE_H_
