// LTS: energy of logits that are scaled by the share of the largest features (Djurisic et al. 2024).
#ifndef OPENSET_EVAL_SCORES_SHAPING_LTS_H_
#define OPENSET_EVAL_SCORES_SHAPING_LTS_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -log sum_c exp(S z_c) of z = W x + b, for features x [D] and the head W [K, D], b [K] of the outputs: S is the square
// of ActivationRatio of max(x, 0) and its D - round(D percentile / 100) largest. (The maximum is the released code's;
// the paper's networks have no negative features.) A sample without positive features has S = 0, so -log K, where the
// released code divides 0 by 0.
class Lts : public Score {
 public:
  // Precondition: 0 <= percentile <= 100.
  explicit Lts(double percentile) : percentile_(percentile) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double percentile_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_LTS_H_
