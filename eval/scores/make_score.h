// ScoreSpec -> Score.
#ifndef OPENSET_EVAL_SCORES_MAKE_SCORE_H_
#define OPENSET_EVAL_SCORES_MAKE_SCORE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "eval/scores/score.h"
#include "eval/scores/score.pb.h"

namespace openset {

// Errors: kInvalidArgument with the field for a spec that breaks its schema's rules, for example without a member.
absl::StatusOr<std::unique_ptr<Score>> MakeScore(const ScoreSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_MAKE_SCORE_H_
