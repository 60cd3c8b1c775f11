// Walking over the rows of a model's outputs.
#ifndef OPENSET_EVAL_SCORES_LOGITS_SCORE_ROWS_H_
#define OPENSET_EVAL_SCORES_LOGITS_SCORE_ROWS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/scores/score.h"

namespace openset {

// OK if `input` has logits of its stated shape, none of them NaN.
// Errors: kInvalidArgument, with the row where one is to blame.
absl::Status CheckLogits(const ScoreInput& input);

// OK if `train` has logits as for CheckLogits, finite and of at least one sample, and `labels` one output each.
// Errors: kInvalidArgument, with the row where one is to blame.
absl::Status CheckFitInput(const ScoreInput& train, absl::Span<const int32_t> labels);

// `score` of each row of logits [K], after CheckLogits. Errors: those of CheckLogits; kInvalidArgument, with the row,
// where the score is NaN (infinite logits can do that).
absl::StatusOr<std::vector<double>> ScoreLogitRows(const ScoreInput& input,
                                                   const std::function<double(absl::Span<const float>)>& score);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_SCORE_ROWS_H_
