// MCM: maximum concept matching, of image and text features (Ming et al. 2022).
#ifndef OPENSET_EVAL_SCORES_HEAD_MCM_H_
#define OPENSET_EVAL_SCORES_HEAD_MCM_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -max_c softmax(cos(x, t_c) / temperature)_c in [-1, -1/K], for an image's features x [D] and the features t_c [D] of
// the classes' texts, which are the rows of head_weight [K, D]. Ignores head_bias. The cosine with zeros is 0.
class Mcm : public Score {
 public:
  // Precondition: temperature > 0.
  explicit Mcm(double temperature) : temperature_(temperature) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double temperature_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_MCM_H_
