// GradNorm: length of the last layer's gradient (Huang et al. 2021).
#ifndef OPENSET_EVAL_SCORES_GRADIENTS_GRADNORM_H_
#define OPENSET_EVAL_SCORES_GRADIENTS_GRADNORM_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -|dL/dW|_1 <= 0 of L = -sum_c log p_c, p = softmax(W x + b) [K], with respect to the last layer's weights W: in
// closed form -sum_c |K p_c - 1| sum_d |x_d| for features x [D]. K times the paper's, whose L is the divergence of p
// from the uniform distribution: the released code's and OpenOOD's, of which they give the negative, a confidence. The
// same for a constant added to all logits.
class Gradnorm : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_GRADIENTS_GRADNORM_H_
