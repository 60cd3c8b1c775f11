// Distribution functions for the statistical tests, accurate to about 1e-12: Boost.Math's, and the studentized range,
// which it lacks.
#ifndef OPENSET_EVAL_STATISTICS_DISTRIBUTIONS_H_
#define OPENSET_EVAL_STATISTICS_DISTRIBUTIONS_H_

#include <cstdint>

namespace openset {

// P(Z <= z) of the standard normal distribution.
double NormalCdf(double z);
// Its inverse; -inf and inf at 0 and 1. Precondition: 0 <= p <= 1.
double NormalQuantile(double p);

// P(|T| >= |t|) of Student's t distribution. Precondition: degrees_of_freedom > 0.
double StudentTTwoSidedTail(double t, double degrees_of_freedom);
// t with P(|T| >= t) = p. Preconditions: 0 < p <= 1, degrees_of_freedom > 0.
double StudentTTwoSidedQuantile(double p, double degrees_of_freedom);

// P(X >= x) of the chi-squared distribution. Preconditions: x >= 0, degrees_of_freedom > 0.
double ChiSquaredTail(double x, double degrees_of_freedom);

// P(F >= x) of Fisher's F distribution. Preconditions: x >= 0 or inf, df1, df2 > 0.
double FisherTail(double x, double df1, double df2);

// x with P(X <= x) = p of the beta distribution. Preconditions: 0 <= p <= 1, a, b > 0.
double BetaQuantile(double p, double a, double b);

// P(range of `groups` standard normal variables >= q): the studentized range with infinite degrees of freedom.
// Preconditions: q >= 0, groups >= 2.
double NormalRangeTail(double q, int groups);
// Its inverse. Preconditions: 0 < p < 1, groups >= 2.
double NormalRangeQuantile(double p, int groups);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_DISTRIBUTIONS_H_
