// How many splits and seeds a study needs, from the records of a smaller one (a pilot).
#ifndef OPENSET_EXPERIMENTS_REPORT_POWER_PLAN_H_
#define OPENSET_EXPERIMENTS_REPORT_POWER_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/metrics/display.h"
#include "eval/statistics/variance_components.h"
#include "experiments/report/report.h"

namespace openset {

// The differences of a row from the baseline, paired by split and seed, in the metric's own unit.
struct PowerRow {
  std::string row;
  openset::Level level;
  int runs = 0;
  double mean_difference = 0;
  VarianceComponents components;
  // The detectable difference of the pilot's own test, as `report` and `compare` have it: of DetectableDifferences()
  // (eval/statistics/power.h) over the rows with a test. Absent for fewer than kFewestReplicates splits, and if the
  // differences do not vary.
  std::optional<double> detectable;
  // The number of splits, with one seed each, that it takes to find PowerPlan.size. Absent if the differences do not
  // vary; 0: more than 10,000.
  std::optional<int> splits;
};

// A number of seeds of each split, and the number of splits that it then takes to find the difference in 4 of 5
// studies, for the row whose differences vary most.
struct Allocation {
  int seeds = 0;
  int splits = 0;  // 0: more than 10,000
  double cpu_seconds = 0;
  bool is_cheapest = false;  // of those with at most PowerOptions.most_splits
};

struct PowerPlan {
  std::string metric, group, baseline;
  Display display;
  double size = 0;   // in the metric's own unit
  double level = 0;  // 0.05 / the number of rows: the first of Holm's levels
  std::vector<PowerRow> rows;
  std::vector<Allocation> allocations;  // 1, 2, 3, 5 and 10 seeds; 1 alone if the pilot has one seed of each split
  std::vector<std::string> left_out;    // rows without two splits in common with the baseline
};

struct PowerOptions {
  std::string metric;             // MetricName()
  double size = 0;                // in the unit of tables; > 0
  std::string group;              // "pool"
  std::string baseline;           // as ReportSpec.baseline
  double cpu_seconds_of_run = 0;  // of all methods together
  int most_splits = 0;            // that the tasks have; 0: any number
};

// Errors, kInvalidArgument: no such metric, group or baseline; no row with two splits in common with the baseline.
absl::StatusOr<PowerPlan> MakePowerPlan(const Report& report, const PowerOptions& options);

// The CPU seconds of the records' stages, each once.
double CpuSecondsOf(absl::Span<const TrialResult> results);

// The same divided by the number of runs: different tasks, splits and seeds.
double CpuSecondsOfRun(absl::Span<const TrialResult> results);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_POWER_PLAN_H_
