// ScoreSpec -> Score.
#ifndef OPENSET_EVAL_SCORES_MAKE_SCORE_H_
#define OPENSET_EVAL_SCORES_MAKE_SCORE_H_

#include <memory>

#include "eval/scores/score.h"
#include "eval/scores/score.pb.h"

namespace openset {

// Precondition: the spec obeys its schema's rules.
std::unique_ptr<Score> MakeScore(const ScoreSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_MAKE_SCORE_H_
