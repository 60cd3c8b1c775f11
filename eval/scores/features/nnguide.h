// NNGuide: energy guided by the nearest training samples (Park et al. 2023).
#ifndef OPENSET_EVAL_SCORES_FEATURES_NNGUIDE_H_
#define OPENSET_EVAL_SCORES_FEATURES_NNGUIDE_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// -e(z) times the mean of the k largest e(z_i) cos(x, x_i) over kept training samples i, for logits z, features x [D]
// and e(z) = log sum_c exp(z_c). The cosine with features that are all 0 is 0. (The released code returns the negative,
// a confidence; OpenOOD adds 1e-10 to the normalised features.) Exhaustive.
class Nnguide : public Score {
 public:
  // Fit() keeps ceil(share * N) of N training samples, but at least k, drawn by their indices in the training outputs.
  // If share is 1, it keeps all in their order. Preconditions: k >= 1, 0 < share <= 1.
  Nnguide(int64_t k, double share) : k_(k), share_(share) {}

  // Ignores labels. Errors, beyond those of CheckFeatureFitInput and CheckLogits: kInvalidArgument for fewer than k
  // samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  int64_t k_;
  double share_;
  Eigen::MatrixXd guides_;  // [D, kept samples], e(z_i) x_i / |x_i|
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_NNGUIDE_H_
