// Which methods of a report differ from its baseline.
#ifndef OPENSET_EXPERIMENTS_REPORT_SIGNIFICANCE_H_
#define OPENSET_EXPERIMENTS_REPORT_SIGNIFICANCE_H_

#include <string>

#include "experiments/report/report.h"

namespace openset {

// The row of that name, or the first one of that method; "": the first of all. "" where there is none.
std::string BaselineRow(const Report& report, const std::string& baseline);

// Tests each cell against that of the baseline with the same task, level, group and metric, paired by split and seed,
// clustered by split (ComparePairedRuns, eval/statistics/paired_tests.h); p-values are Holm's over all tests of a
// metric. The baseline's row is BaselineRow(). A difference is detectable where its 95 % interval leaves out 0 and p is
// below 0.05. Cells with fewer than two runs in common with the baseline's, and those whose differences leave no
// variance to test with, get no test.
void AddSignificance(const std::string& baseline, Report* report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_SIGNIFICANCE_H_
