// Margin between the two most probable classes.
#ifndef OPENSET_EVAL_SCORES_LOGITS_MARGIN_H_
#define OPENSET_EVAL_SCORES_LOGITS_MARGIN_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// p_2 - p_1 for the largest p_1 and the second largest p_2 of softmax(z), in [-1, 0]; -1 for one class.
class Margin : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_MARGIN_H_
