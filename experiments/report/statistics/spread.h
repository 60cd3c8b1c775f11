// How much the runs of a cell differ: what stands behind its mean.
#ifndef OPENSET_EXPERIMENTS_REPORT_STATISTICS_SPREAD_H_
#define OPENSET_EXPERIMENTS_REPORT_STATISTICS_SPREAD_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "experiments/report/report.h"

namespace openset {

// kPopulation: the standard deviation with n as divisor, as in published tables; kSample: with n - 1; kInterval: half
// the length of the 95 % interval of the mean (Student's t over splits, a split's runs as one; over seeds with one
// split). In the metric's own unit. Nothing for fewer than two runs, and for an interval of runs that are all the same.
std::optional<double> SpreadOf(const ReportCell& cell, Spread spread);

// The same of values by themselves, in the unit they have. `splits`: that of each.
std::optional<double> SpreadOf(absl::Span<const double> values, absl::Span<const int> splits, Spread spread);

// "sample standard deviation over splits and seeds".
std::string SpreadText(Spread spread);

// What the lines and bands of plots over several trials are: "mean ± population standard deviation over splits and
// seeds".
std::string BandText(Spread spread);

// "population", "sample", "interval". Errors: kInvalidArgument with these.
absl::StatusOr<Spread> ParseSpread(const std::string& name);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_STATISTICS_SPREAD_H_
