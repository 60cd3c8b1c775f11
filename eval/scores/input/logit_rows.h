// Checks of a model's logits, and loops over their rows.
#ifndef OPENSET_EVAL_SCORES_INPUT_LOGIT_ROWS_H_
#define OPENSET_EVAL_SCORES_INPUT_LOGIT_ROWS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "eval/scores/score.h"

namespace openset {

// Calls work(0), ..., work(num_rows - 1), in several threads (core/in_parallel.h) and in any order.
void ForEachRowInParallel(int64_t num_rows, const std::function<void(int64_t row)>& work);

// OK if `input` has logits of its stated shape, none of them NaN.
// Errors: kInvalidArgument, with the row if one is to blame.
absl::Status CheckLogits(const ScoreInput& input);

// OK if `train` has finite logits as for CheckLogits, and at least one sample, and `labels` has an output for each.
// Errors: kInvalidArgument, with the row if one is to blame.
absl::Status CheckFitInput(const ScoreInput& train, absl::Span<const int32_t> labels);

// The logits [K] of a row. Precondition: CheckLogits.
absl::Span<const float> LogitsOf(const ScoreInput& input, int64_t row);

// Training samples by class.
struct ClassRows {
  std::vector<std::vector<int64_t>> correct;  // [K], the correctly classified rows, ascending
  std::vector<bool> labelled;                 // [K], whether the class has any sample
};
// Precondition: CheckFitInput.
ClassRows RowsByClass(const ScoreInput& train, absl::Span<const int32_t> labels);

// For Compute() of the score `name`, fitted to `fitted_outputs` logits per sample: CheckLogits, and the same number of
// logits. Errors, in addition: kFailedPrecondition for fitted_outputs of 0, which means that the score is not fitted
// yet.
absl::Status CheckLogitsLikeFitted(const ScoreInput& input, int64_t fitted_outputs, absl::string_view name);

// Calls CheckLogits, then returns `score` of each row of logits [K]; `score` is called from several threads. Errors:
// those of CheckLogits; kInvalidArgument, with the row, if the score is NaN, as it may be for infinite logits.
absl::StatusOr<std::vector<double>> ScoreLogitRows(const ScoreInput& input,
                                                   const std::function<double(absl::Span<const float>)>& score);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_INPUT_LOGIT_ROWS_H_
