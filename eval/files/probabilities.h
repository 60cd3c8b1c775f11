// Detects probabilities that were given as logits.
#ifndef OPENSET_EVAL_FILES_PROBABILITIES_H_
#define OPENSET_EVAL_FILES_PROBABILITIES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace openset {

// Whether each row of `outputs`, [N, num_outputs] row-major, has no negative number and sums to 1 within 1e-4. False if
// there are no rows or fewer than two outputs. In practice, logits don't have this property by chance.
bool AreProbabilities(absl::Span<const float> outputs, int64_t num_outputs);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_PROBABILITIES_H_
