// The downhill simplex method (Nelder and Mead 1965), as in SciPy's fmin.
#ifndef OPENSET_EVAL_SCORES_FITS_NELDER_MEAD_H_
#define OPENSET_EVAL_SCORES_FITS_NELDER_MEAD_H_

#include <functional>
#include <vector>

namespace openset {

// Returns a point near a local minimum of `f`: the visited one with the least value. Starts from `start` [n] and the
// points with one coordinate 5 % larger (0.00025 if it is 0). Reflection 1, expansion 2, contraction and shrinkage 1/2.
// Stops when all points and their values are within 1e-4 of the best one, or after 200 n steps or evaluations (SciPy's
// defaults). `f` may be infinite, not NaN. Precondition: n >= 1.
std::vector<double> NelderMead(const std::function<double(const std::vector<double>&)>& f,
                               const std::vector<double>& start);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_NELDER_MEAD_H_
