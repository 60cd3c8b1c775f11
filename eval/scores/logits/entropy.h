// Entropy of the predicted distribution.
#ifndef OPENSET_EVAL_SCORES_LOGITS_ENTROPY_H_
#define OPENSET_EVAL_SCORES_LOGITS_ENTROPY_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -sum_c p_c ln p_c with p = softmax(z), in nats, in [0, ln K]; 0 ln 0 = 0.
class Entropy : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_ENTROPY_H_
