// How much the runs of a cell differ, and which differences are significant.
#ifndef OPENSET_EXPERIMENTS_REPORT_STATISTICS_H_
#define OPENSET_EXPERIMENTS_REPORT_STATISTICS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/report/run_table.h"
#include "experiments/report/report.h"

namespace openset {

// ---- How much the runs of a cell differ: the number shown after its mean.

// Returns the spread in the metric's own unit. kPopulation: the standard deviation with divisor n, as in published
// tables. kSample: with divisor n - 1. kInterval: half the length of the 95 % interval of the mean (Student's t over
// splits, where the runs of a split count as one; over seeds if there is one split). Returns nothing for fewer than two
// runs, and for the interval of runs that are all equal.
std::optional<double> SpreadOf(const ReportCell& cell, Spread spread);

// The same for plain values, in their own unit. `splits` has the split of each value.
std::optional<double> SpreadOf(absl::Span<const double> values, absl::Span<const int> splits, Spread spread);

// "sample standard deviation over splits and seeds".
std::string SpreadText(Spread spread);

// Describes the lines and bands of plots over several trials: "mean ± population standard deviation over splits and
// seeds".
std::string BandText(Spread spread);

// Parses "population", "sample" or "interval". Errors: kInvalidArgument, with these names.
absl::StatusOr<Spread> ParseSpread(const std::string& name);

// The values of the report's cells of one group, and its baseline, for CompareRuns() (eval/report/run_comparison.h):
// what ReadRunTable() reads from the report's JSON. Errors: as RunTableOfCells().
absl::StatusOr<RunTable> TableOf(const Report& report, const std::string& group);

// ---- Which methods of a report differ from its baseline.

// Returns the row of a study's baseline (ReportSpec.baseline): the row with this name, or the first one with the method
// and all values in it ("openauc, lambda 0.1", "openauc", "lambda=0.1"). If the baseline is "", returns the first row.
// Returns "" if there is no such row.
std::string BaselineRow(const Report& report, const std::string& baseline);

// The values of the runs that a cell and its baseline's have in common, by split and seed, in the order of the cell.
struct PairedValues {
  std::vector<double> a, b, difference;             // of the cell, of the baseline, a - b
  std::vector<int> draw;                            // DrawOf() the cell's value
  std::vector<std::vector<double>> without_blocks;  // a - b without each block; empty if a run has no such values
};
PairedValues PairWith(const ReportCell& cell, const ReportCell& baseline);

// Tests each cell against the baseline's cell (BaselineRow()) of the same task, level, group and metric, paired by
// split and seed and clustered by draw (ComparePairedRuns, eval/statistics/paired_tests.h). p-values are corrected by
// Holm's method over all tests of a metric and group, and are the same as CompareRuns()'s with this baseline. A
// difference is detectable if it is over at least kFewestReplicates (eval/statistics/paired_tests.h), its 95 % interval
// excludes 0, and p is below 0.05. Cells that are not tested (WhyNotTested()) have no p-value and don't count for
// Holm's method. If no cell has two runs in common with the baseline, leaves the report as it is.
// `detects` is that of DetectableDifferences() (eval/statistics/power.h) over all tests of the metric and group.
void AddSignificance(const std::string& baseline, Report* report);

// "fewer than 3 splits, or seeds of one split", "the same difference in every run"; "" if there was a test.
std::string WhyNotTested(const Significance& significance);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_STATISTICS_H_
