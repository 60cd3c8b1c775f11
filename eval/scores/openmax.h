// OpenMax's revised probabilities (Bendale and Boult 2016).
#ifndef OPENSET_EVAL_SCORES_OPENMAX_H_
#define OPENSET_EVAL_SCORES_OPENMAX_H_

#include <vector>

#include "absl/types/span.h"

namespace openset {

// softmax(z_1 - removed_1, ..., z_K - removed_K, sum_c removed_c); the last entry is the unknown's. Precondition: both
// have the same size.
std::vector<double> OpenMaxProbabilities(absl::Span<const double> logits, absl::Span<const double> removed);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_OPENMAX_H_
