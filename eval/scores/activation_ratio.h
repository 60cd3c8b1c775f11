// The ratio of the sum of all features to the sum of the largest ones.
#ifndef OPENSET_EVAL_SCORES_ACTIVATION_RATIO_H_
#define OPENSET_EVAL_SCORES_ACTIVATION_RATIO_H_

#include <cstdint>

#include "Eigen/Core"

namespace openset {

// The number of `dim` features that remain if `percentile` percent are pruned: dim - round(dim * percentile / 100),
// halves to even, but at least 1. Preconditions: dim >= 1, 0 <= percentile <= 100.
int64_t NumKept(int64_t dim, double percentile);

// The sum of all features divided by the sum of the `keep` largest; at least 1 if no feature is negative. 0 if both
// sums are 0; otherwise NaN if the sum of the largest is not positive. Precondition: 1 <= keep <= x.size().
double ActivationRatio(const Eigen::Ref<const Eigen::VectorXd>& x, int64_t keep);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_ACTIVATION_RATIO_H_
