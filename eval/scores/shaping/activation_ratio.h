// How much of a sample's features is in the largest ones.
#ifndef OPENSET_EVAL_SCORES_SHAPING_ACTIVATION_RATIO_H_
#define OPENSET_EVAL_SCORES_SHAPING_ACTIVATION_RATIO_H_

#include <cstdint>

#include "Eigen/Core"

namespace openset {

// How many of `dim` features are left when `percentile` percent are pruned: dim minus round(dim * percentile / 100),
// halves to even, and at least 1. Preconditions: dim >= 1, 0 <= percentile <= 100.
int64_t NumKept(int64_t dim, double percentile);

// The sum of all features over that of the `keep` largest, at least 1 if none is negative. 0 where both sums are 0,
// NaN where that of the largest is not positive otherwise. Precondition: 1 <= keep <= x.size().
double ActivationRatio(const Eigen::Ref<const Eigen::VectorXd>& x, int64_t keep);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_ACTIVATION_RATIO_H_
