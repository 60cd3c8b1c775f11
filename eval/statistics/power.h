// The power of the t test of ComparePairedRuns() (paired_tests.h): which differences it can find.
#ifndef OPENSET_EVAL_STATISTICS_POWER_H_
#define OPENSET_EVAL_STATISTICS_POWER_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "eval/statistics/paired_tests.h"

namespace openset {

// The power at which a difference is called detectable, as usual (Cohen 1988): it is found in 4 of 5 studies.
inline constexpr double kPower = 0.8;

// The probability that the two-sided t test at `level`, over `replicates`, finds a difference of `ratio` standard
// errors: P(|T| >= t) of the noncentral t distribution. Preconditions: ratio >= 0, replicates >= 3, 0 < level < 1.
double PairedPower(double ratio, int replicates, double level);

// The difference, in standard errors, whose power is kPower. Preconditions: replicates >= 3, 0 < level <= 0.5.
double DetectableRatio(int replicates, double level);

// The detectable difference of each test, as every table and sentence has it: the smallest true difference that the
// test finds with kPower, given how its differences vary. This is DetectableRatio() standard errors at the first of
// Holm's levels, alpha / (the number of tests), whatever the other tests found: Holm's later levels, with which smaller
// differences are found, depend on the results. `tests`: all tests of a metric, over which Holm's method corrects. In
// the order of the input; absent if the differences don't vary, and in the unit of the compared values. Preconditions:
// each test has kFewestReplicates or more; 0 < alpha <= 0.5.
std::vector<std::optional<double>> DetectableDifferences(absl::Span<const PairedTest> tests, double alpha);

// The fewest replicates, at least kFewestReplicates, of which a difference of `effect` standard deviations of a
// replicate (Cohen's d_z) is detectable, if a mean over n replicates has the variance 1 / n + `shared` of a replicate
// (PairedTestOptions.test_per_training). 0 if 10,000 are too few. Preconditions: effect > 0, shared >= 0, 0 < level <=
// 0.5.
int ReplicatesToDetect(double effect, double level, double shared = 0);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_POWER_H_
