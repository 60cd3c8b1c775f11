// Gradients as a measure of uncertainty (Lee and AlRegib 2020), of the last layer.
#ifndef OPENSET_EVAL_SCORES_GRADIENTS_GRADIENT_UNCERTAINTY_H_
#define OPENSET_EVAL_SCORES_GRADIENTS_GRADIENT_UNCERTAINTY_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -|dL/dW|^2 - |dL/db|^2 <= 0 of L = -sum_c log p_c, p = softmax(W x + b) [K]: the binary cross entropy of p with a
// label of ones. In closed form: -|K p - 1|^2 (|x|^2 + 1) for features x [D]; without bias, |x|^2 instead of |x|^2 + 1.
// The sign is negative because a confident prediction has a long gradient; pytorch-ood uses the same sign. The paper
// instead passes the squared lengths of all layers to a network that is trained on known and unknown samples. Doesn't
// change if a constant is added to all logits.
class GradientUncertainty : public Score {
 public:
  explicit GradientUncertainty(bool bias) : bias_(bias) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  bool bias_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_GRADIENTS_GRADIENT_UNCERTAINTY_H_
