// Maximum logit (Hendrycks et al. 2022; Vaze et al. 2022).
#ifndef OPENSET_EVAL_SCORES_LOGITS_MAX_LOGIT_H_
#define OPENSET_EVAL_SCORES_LOGITS_MAX_LOGIT_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -max_c z_c. Unlike softmax scores it depends on a constant added to all logits.
class MaxLogit : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_MAX_LOGIT_H_
