// The generalised Pareto distribution, fitted as the released codes of PostMax and GHOST fit it.
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
  // above it (it ends at y = -1 / shape where shape is negative).
  double Cdf(double x) const;
};

// The parameters of the largest likelihood that Nelder and Mead's method finds from shape 1, scale 1 and location 0 (a
// tenth of the values' range below the least of them where one is not above 0), what lies outside the support being
// penalised: scipy.stats.genpareto.fit(values) of SciPy 1.17. The order of the values does not matter.
// Errors, kInvalidArgument: fewer than two values, or one that is not finite.
absl::StatusOr<GeneralizedPareto> FitGeneralizedPareto(std::vector<double> values);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_GENERALIZED_PARETO_H_
