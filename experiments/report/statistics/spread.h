// How much the runs of a cell differ: the number shown after its mean.
#ifndef OPENSET_EXPERIMENTS_REPORT_STATISTICS_SPREAD_H_
#define OPENSET_EXPERIMENTS_REPORT_STATISTICS_SPREAD_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "experiments/report/report.h"

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_STATISTICS_SPREAD_H_
