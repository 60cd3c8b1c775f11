// The Weibull distribution of a tail, fitted like libMR (Scheirer et al. 2011).
#ifndef OPENSET_EVAL_SCORES_FITS_WEIBULL_H_
#define OPENSET_EVAL_SCORES_FITS_WEIBULL_H_

#include <vector>

#include "absl/status/statusor.h"

namespace openset {

// P(X <= x) = 1 - exp(-((x + shift) / scale)^shape), 0 for x + shift <= 0.
struct WeibullTail {
  double shape = 0;
  double scale = 0;
  double shift = 0;  // translation - the smallest value of the tail

  double Cdf(double x) const;
};

// The maximum-likelihood shape and scale for the `tail` largest of `values` (all, if there are fewer), each shifted by
// translation - (the smallest of them). A translation of 10000 (OSDN's copy of libMR) makes the shape very large and
// the distribution nearly a Gumbel one with a free location; libMR's default is 1.
// Errors: kInvalidArgument for fewer than two values, values that are not finite, and a tail of equal values, for
// which the likelihood has no maximum. Preconditions: tail >= 2, translation > 0.
absl::StatusOr<WeibullTail> FitWeibullTail(std::vector<double> values, int tail, double translation);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_WEIBULL_H_
