// Values of a network's stages, for scores over several layers.
#ifndef OPENSET_EVAL_SCORES_STAGE_VALUES_H_
#define OPENSET_EVAL_SCORES_STAGE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "eval/scores/score.h"

namespace openset {

// OK if `input` has stage values of its stated widths, all finite. Errors: kInvalidArgument, with the row if one is
// invalid.
absl::Status CheckStageValues(const ScoreInput& input);

// For Compute() of the score `name`, fitted to stages of these widths: CheckStageValues, and the same widths. Errors,
// in addition: kFailedPrecondition if there are no widths, which means that the score is not fitted yet.
absl::Status CheckStageValuesLikeFitted(const ScoreInput& input, const std::vector<int64_t>& fitted,
                                        absl::string_view name);

// The values [N * width] of one stage. Precondition: CheckStageValues.
std::vector<float> ValuesOfStage(const ScoreInput& input, int64_t stage);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_STAGE_VALUES_H_
