// The least probability of being wrong (OpenAUC, Definition 1).
#ifndef OPENSET_EVAL_SCORES_LOGITS_MIN_MISCLASSIFICATION_H_
#define OPENSET_EVAL_SCORES_LOGITS_MIN_MISCLASSIFICATION_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// min_c P(y != c) = 1 - max_c softmax(z)_c, in [0, 1 - 1/K], computed as the sum over the other classes: it ranks
// like -max softmax in exact arithmetic and distinguishes samples whose largest probability rounds to 1.
class MinMisclassification : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_MIN_MISCLASSIFICATION_H_
