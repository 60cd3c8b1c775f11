// The downhill simplex method (Nelder and Mead 1965), in the form that SciPy's fmin has.
#ifndef OPENSET_EVAL_SCORES_FITS_NELDER_MEAD_H_
#define OPENSET_EVAL_SCORES_FITS_NELDER_MEAD_H_

#include <functional>
#include <vector>

namespace openset {

// A point near a local minimum of `f`, of those visited the one with the least value. From `start` [n] and the points
// with one coordinate 5 % larger (0.00025 where it is 0) on: reflection 1, expansion 2, contraction and shrinkage 1/2,
// until all points lie within 1e-4 of the best one and their values as well, or after 200 n steps or evaluations
// (SciPy's defaults). `f` may be infinite, not NaN. Precondition: n >= 1.
std::vector<double> NelderMead(const std::function<double(const std::vector<double>&)>& f,
                               const std::vector<double>& start);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_NELDER_MEAD_H_
