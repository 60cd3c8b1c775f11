// pNML: the regret of the last layer's predictive normalised maximum likelihood (Bibas et al. 2021).
#ifndef OPENSET_EVAL_SCORES_HEAD_PNML_H_
#define OPENSET_EVAL_SCORES_HEAD_PNML_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// log(sum_c p_c / (p_c + (1 - p_c) p_c^g)) / log K in [0, 1], for u = x / |x| of features x [D] (zeros stay zeros),
// p = softmax(W u + b) [K] of the head W, b of the outputs, and g = q / (1 + q) with q = u^T (U^T U)^+ u >= 0, where
// the rows of U are the training samples' u. Directions with almost no variance are ignored (Whitening,
// fits/gaussian.h). 0 for one output.
class Pnml : public Score {
 public:
  // Ignores labels. Errors: those of CheckFeatureFitInput; kInvalidArgument if all features are 0.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Eigen::MatrixXd whitening_;  // [r, D], q = |whitening_ u|^2
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_PNML_H_
