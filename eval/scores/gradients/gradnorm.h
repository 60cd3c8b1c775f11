// GradNorm: length of the last layer's gradient (Huang et al. 2021).
#ifndef OPENSET_EVAL_SCORES_GRADIENTS_GRADNORM_H_
#define OPENSET_EVAL_SCORES_GRADIENTS_GRADNORM_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -|dL/dW|_1 <= 0 of L = -sum_c log p_c, p = softmax(W x + b) [K], with respect to the last layer's weights W: in
// closed form, -sum_c |K p_c - 1| sum_d |x_d| for features x [D]. The released code and OpenOOD return its negative, a
// confidence. It is K times the paper's, whose L is the divergence of p from the uniform distribution. Doesn't change
// if a constant is added to all logits.
class Gradnorm : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_GRADIENTS_GRADNORM_H_
