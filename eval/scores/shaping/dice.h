// DICE: energy of a head without the weights that contribute little (Sun and Li 2022).
#ifndef OPENSET_EVAL_SCORES_SHAPING_DICE_H_
#define OPENSET_EVAL_SCORES_SHAPING_DICE_H_

#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score.h"

namespace openset {

// -log sum_c exp(z_c) of z = (W * M) x + b for features x [D], in units of the logits, with the head W [K, D], b [K] of
// the training outputs. M_cd is 1 if the contribution W_cd mean(x_d), over the training samples, is above the
// `percentile`-th percentile of all K D contributions, else 0. With percentile 0, all M_cd are 1, and it is the energy.
class Dice : public Score {
 public:
  // Precondition: 0 <= percentile <= 100.
  explicit Dice(double percentile) : percentile_(percentile) {}

  // Ignores labels. Errors: those of CheckFeatureFitInput and HeadOf.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double percentile_;
  LinearHead head_;  // with the remaining weights
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_DICE_H_
