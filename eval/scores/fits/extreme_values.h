// Distributions of extreme values (generalised Pareto, Weibull, exponentiated Weibull), fitted as released code fits
// them.
#ifndef OPENSET_EVAL_SCORES_FITS_EXTREME_VALUES_H_
#define OPENSET_EVAL_SCORES_FITS_EXTREME_VALUES_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"

namespace openset {

// ---- The downhill simplex method (Nelder and Mead 1965), as in SciPy's fmin.

// Returns a point near a local minimum of `f`: the visited one with the least value. Starts from `start` [n] and the
// points with one coordinate 5 % larger (0.00025 if it is 0). Reflection 1, expansion 2, contraction and shrinkage 1/2.
// Stops when all points and their values are within 1e-4 of the best one, or after 200 n steps or evaluations (SciPy's
// defaults). `f` may be infinite, not NaN. Precondition: n >= 1.
std::vector<double> NelderMead(const std::function<double(const std::vector<double>&)>& f,
                               const std::vector<double>& start);

// ---- The generalised Pareto distribution, fitted as in the released codes of PostMax and GHOST.

struct GeneralizedPareto {
  double shape = 0;     // xi, of either sign
  double location = 0;  // mu, the lower end of the support
  double scale = 1;     // sigma > 0

  // 1 - (1 + shape y)^(-1 / shape) with y = (x - location) / scale, 1 - exp(-y) for shape 0; 0 below the support, 1
  // above it (it ends at y = -1 / shape if shape is negative).
  double Cdf(double x) const;
};

// The parameters with the largest likelihood that Nelder and Mead's method finds, with a penalty for values outside the
// support: scipy.stats.genpareto.fit(values) of SciPy 1.17. Starts from shape 1, scale 1 and location 0; if a value is
// not above 0, the location starts a tenth of the values' range below the least value. The order of the values does not
// matter.
// Errors, kInvalidArgument: fewer than two values, or one that is not finite.
absl::StatusOr<GeneralizedPareto> FitGeneralizedPareto(std::vector<double> values);

// The Weibull distribution of a tail, fitted like libMR (Scheirer et al. 2011).

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

// The exponentiated Weibull distribution of a tail, as torchosr fits it: scipy.stats.exponweib.fit(values, loc=0,
// scale=0.2).

// P(X <= x) = (1 - exp(-t^c))^a with t = (x - location) / scale; 0 for t <= 0.
struct ExponentiatedWeibull {
  double a = 1;
  double c = 1;
  double location = 0;
  double scale = 1;

  double Cdf(double x) const;
};

// The result of SciPy's search: minimises the negative log likelihood by Nelder and Mead's method from a = c = 1,
// location 0 and scale 0.2. A value outside the support or without a finite density costs 100 ln(largest double). With
// four parameters and few values, the search often ends at its limit of steps, not at a maximum; the released code has
// the same property. Preconditions: not empty, all finite.
ExponentiatedWeibull FitExponentiatedWeibull(const std::vector<double>& values);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_EXTREME_VALUES_H_
