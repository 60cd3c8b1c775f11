// The exponentiated Weibull distribution of a tail, as torchosr fits it: scipy.stats.exponweib.fit(values, loc=0,
// scale=0.2).
#ifndef OPENSET_EVAL_SCORES_FITS_EXPONENTIATED_WEIBULL_H_
#define OPENSET_EVAL_SCORES_FITS_EXPONENTIATED_WEIBULL_H_

#include <vector>

namespace openset {

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

#endif  // OPENSET_EVAL_SCORES_FITS_EXPONENTIATED_WEIBULL_H_
