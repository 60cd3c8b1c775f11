// Maximum softmax probability (Hendrycks and Gimpel 2017).
#ifndef OPENSET_EVAL_SCORES_LOGITS_MAX_SOFTMAX_H_
#define OPENSET_EVAL_SCORES_LOGITS_MAX_SOFTMAX_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -max_c softmax(z)_c, in [-1, -1/K]. If the other classes' share is below 1.1e-16, it is -1 and such samples tie;
// MinMisclassification distinguishes them.
class MaxSoftmax : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_MAX_SOFTMAX_H_
