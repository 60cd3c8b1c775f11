// The directions in which training features vary least (Wang et al. 2022).
#ifndef OPENSET_EVAL_SCORES_FITS_RESIDUAL_SPACE_H_
#define OPENSET_EVAL_SCORES_FITS_RESIDUAL_SPACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "eval/scores/score.h"

namespace openset {

// Features are relative to u = -W^+ b, where the head W [K, D], b [K] gives 0 for all classes. R [D - principal_dim, D]
// are the eigenvectors of the smallest eigenvalues of (1/N) sum_i (x_i - u) (x_i - u)^T over the training features.
class ResidualSpace {
 public:
  // A space without directions, for a score that is not fitted yet.
  ResidualSpace() = default;

  // `principal_dim`: if absent, 1000 for at least 2048 features, 512 for at least 768, otherwise half of them.
  // Errors: kInvalidArgument if there is no sample, no head, or a value that is not finite; if no direction is left, or
  // none in which the features vary.
  static absl::StatusOr<ResidualSpace> Fit(const ScoreInput& train, std::optional<int64_t> principal_dim);

  // D, or 0 without directions.
  int64_t feature_dim() const { return directions_.cols(); }

  // Sum of |R (x - u)| over the training samples, > 0.
  double training_length() const { return training_length_; }

  // |R (x - u)| for each row, in several threads. Precondition: CheckFeaturesLikeFitted.
  std::vector<double> Lengths(const ScoreInput& input) const;

 private:
  Eigen::VectorXd origin_;
  Eigen::MatrixXd directions_;
  double training_length_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_RESIDUAL_SPACE_H_
