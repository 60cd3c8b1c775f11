// Neural relation graph: relations to all training samples (Kim et al. 2023).
#ifndef OPENSET_EVAL_SCORES_FEATURES_RELATION_H_
#define OPENSET_EVAL_SCORES_FEATURES_RELATION_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// -sum_i r_i^power over the training samples with a relation r_i = max(0, u . u_i) (p . p_i) above `threshold`, with
// p = softmax(z) of the logits z [K] and u = x / sqrt(|x|^2 + 1e-10) of the features x [D]. (OpenOOD returns the
// negative, a confidence; the authors' code 1 / (sum + 1e-6): the same order.) Exhaustive: N * (training samples) *
// (D + K) multiplications, in double.
class Relation : public Score {
 public:
  // Preconditions: power > 0, threshold >= 0.
  Relation(double power, double threshold) : power_(power), threshold_(threshold) {}

  // Ignores labels. Errors: those of CheckFeatureFitInput and CheckLogits.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double power_;
  double threshold_;
  Eigen::MatrixXf train_;          // [D, training samples]
  Eigen::VectorXd scale_;          // of a column: 1 / sqrt(|x|^2 + 1e-10)
  Eigen::MatrixXd probabilities_;  // [K, training samples]
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_RELATION_H_
