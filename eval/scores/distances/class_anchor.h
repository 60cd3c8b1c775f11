// The rejection score of class anchor clustering (Miller et al., WACV 2021).
#ifndef OPENSET_EVAL_SCORES_DISTANCES_CLASS_ANCHOR_H_
#define OPENSET_EVAL_SCORES_DISTANCES_CLASS_ANCHOR_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// min_c d_c (1 - softmin(d)_c) >= 0 with d_c = |z - anchor e_c|_2, for the logits z [K] and the unit vectors e_c. 0 at
// an anchor that is far from the others. pytorch-ood 0.4.0 (CACLoss.score) uses minus the largest of the squared
// distances instead.
class ClassAnchorScore : public Score {
 public:
  explicit ClassAnchorScore(double anchor) : anchor_(anchor) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double anchor_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_DISTANCES_CLASS_ANCHOR_H_
