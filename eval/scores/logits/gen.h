// GEN: generalised entropy of the softmax probabilities (Liu et al. 2023).
#ifndef OPENSET_EVAL_SCORES_LOGITS_GEN_H_
#define OPENSET_EVAL_SCORES_LOGITS_GEN_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// sum over the `top` largest p_c = softmax(z)_c of (p_c (1 - p_c))^gamma, in [0, top / 4^gamma]. (The released code
// returns its negative, a confidence.) Doesn't change if a constant is added to all logits.
class Gen : public Score {
 public:
  // Uses all classes if there are fewer than `top`. Preconditions: gamma > 0, top >= 1.
  Gen(double gamma, int64_t top) : gamma_(gamma), top_(top) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double gamma_;
  int64_t top_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_GEN_H_
