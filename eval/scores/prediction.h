// The closed-set prediction.
#ifndef OPENSET_EVAL_SCORES_PREDICTION_H_
#define OPENSET_EVAL_SCORES_PREDICTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/scores/score.h"

namespace openset {

// [N]: the class of the largest of the first `num_classes` logits, the lowest class if several are equal. Ignores
// further outputs (a class for unknown samples).
// Errors, kInvalidArgument: no logits, fewer than `num_classes` outputs or none, NaN with its row.
absl::StatusOr<std::vector<int32_t>> ClosedSetPrediction(const ScoreInput& input, int64_t num_classes);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_PREDICTION_H_
