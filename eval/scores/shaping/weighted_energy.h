// WEBO: energy with a weight for each class (VOS, Du et al. 2022).
#ifndef OPENSET_EVAL_SCORES_SHAPING_WEIGHTED_ENERGY_H_
#define OPENSET_EVAL_SCORES_SHAPING_WEIGHTED_ENERGY_H_

#include <utility>
#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -log sum_c max(w_c, 0) exp(z_c) for logits z [K], in their units. Infinite if all logits with a positive weight are
// -inf.
class WeightedEnergy : public Score {
 public:
  // `weight` [K]; empty: 1 for each, so that it is the energy.
  explicit WeightedEnergy(std::vector<double> weight) : weight_(std::move(weight)) {}

  // Errors, in addition: kInvalidArgument if the number of weights and logits differ, or no weight is above 0.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  std::vector<double> weight_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_WEIGHTED_ENERGY_H_
