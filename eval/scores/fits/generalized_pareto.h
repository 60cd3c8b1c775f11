// The generalised Pareto distribution, fitted as in the released codes of PostMax and GHOST.
#ifndef OPENSET_EVAL_SCORES_FITS_GENERALIZED_PARETO_H_
#define OPENSET_EVAL_SCORES_FITS_GENERALIZED_PARETO_H_

#include <vector>

#include "absl/status/statusor.h"

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_GENERALIZED_PARETO_H_
