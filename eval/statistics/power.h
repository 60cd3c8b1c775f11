// The power of the t test of ComparePairedRuns() (paired_tests.h): which differences it can find.
#ifndef OPENSET_EVAL_STATISTICS_POWER_H_
#define OPENSET_EVAL_STATISTICS_POWER_H_

namespace openset {

// The power at which a difference is called detectable, as usual (Cohen 1988): it is found in 4 of 5 studies.
inline constexpr double kPower = 0.8;

// The probability that the two-sided t test at `level`, over `replicates`, finds a difference of `ratio` standard
// errors: P(|T| >= t) of the noncentral t distribution. Preconditions: ratio >= 0, replicates >= 3, 0 < level < 1.
double PairedPower(double ratio, int replicates, double level);

// The difference, in standard errors, whose power is kPower. Preconditions: replicates >= 3, 0 < level <= 0.5.
double DetectableRatio(int replicates, double level);

// The fewest replicates, at least kFewestReplicates, of which a difference of `effect` standard deviations of a
// replicate (Cohen's d_z) is detectable, if a mean over n replicates has the variance 1 / n + `shared` of a replicate
// (PairedTestOptions.test_per_training). 0 if 10,000 are too few. Preconditions: effect > 0, shared >= 0, 0 < level <=
// 0.5.
int ReplicatesToDetect(double effect, double level, double shared = 0);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_POWER_H_
