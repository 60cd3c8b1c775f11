// What a softmax gave, in the place of logits.
#ifndef OPENSET_EVAL_FILES_PROBABILITIES_H_
#define OPENSET_EVAL_FILES_PROBABILITIES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace openset {

// Whether each row of `outputs`, [N, num_outputs] row-major, holds no number below 0 and sums to 1 within 1e-4. Not
// where there are no rows or fewer than two outputs. Logits of N samples that do so by chance do not occur.
bool AreProbabilities(absl::Span<const float> outputs, int64_t num_outputs);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_PROBABILITIES_H_
