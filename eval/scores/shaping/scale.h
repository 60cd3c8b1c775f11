// SCALE: energy after each sample's features are scaled (Xu et al. 2024).
#ifndef OPENSET_EVAL_SCORES_SHAPING_SCALE_H_
#define OPENSET_EVAL_SCORES_SHAPING_SCALE_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -log sum_c exp(z_c) of z = W (x exp(r)) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in units
// of the logits: r is the sum of all features over that of the D - round(D percentile / 100) largest (ActivationRatio).
// All features are scaled; ash S also drops the smaller ones.
class Scale : public Score {
 public:
  // Precondition: 0 <= percentile <= 100.
  explicit Scale(double percentile) : percentile_(percentile) {}

  // Errors, in addition: kInvalidArgument, with the row, if negative features leave no ratio (ActivationRatio is NaN).
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double percentile_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_SCALE_H_
