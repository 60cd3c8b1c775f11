// Free energy (Liu et al. 2020).
#ifndef OPENSET_EVAL_SCORES_LOGITS_ENERGY_H_
#define OPENSET_EVAL_SCORES_LOGITS_ENERGY_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -T log sum_c exp(z_c / T), in units of the logits. Depends on a constant added to all logits; close to -max_c z_c for
// small T.
class Energy : public Score {
 public:
  // Precondition: temperature > 0.
  explicit Energy(double temperature) : temperature_(temperature) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double temperature_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_ENERGY_H_
