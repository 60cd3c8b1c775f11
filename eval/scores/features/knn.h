// Distance to the k-th nearest training sample (Sun et al. 2022).
#ifndef OPENSET_EVAL_SCORES_FEATURES_KNN_H_
#define OPENSET_EVAL_SCORES_FEATURES_KNN_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/features/float_panels.h"
#include "eval/scores/score.h"

namespace openset {

// The Euclidean distance, in [0, 2], of x / |x| to the k-th nearest x_i / |x_i| of the training features. Zeros stay
// zeros. (The released code adds 1e-10 to |x|, and OpenOOD returns the squared distance: the same order.) Exhaustive:
// finds candidates with N * (training samples) * D multiplications in float, and computes their distances in double.
class Knn : public Score {
 public:
  // Precondition: k >= 1.
  explicit Knn(int64_t k) : k_(k) {}

  // Ignores labels. Errors, beyond those of CheckFeatureFitInput: kInvalidArgument for fewer than k samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  int64_t k_;
  Eigen::MatrixXf train_;  // [D, training samples]
  Eigen::VectorXd scale_;  // 1 / length of a column; 0 for zeros
  // The columns of train_ * scale_, each with the negative half of its squared length below it.
  FloatPanels unit_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_KNN_H_
