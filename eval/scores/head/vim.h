// ViM: the logit of a virtual class, from what the training features' main directions miss (Wang et al. 2022).
#ifndef OPENSET_EVAL_SCORES_HEAD_VIM_H_
#define OPENSET_EVAL_SCORES_HEAD_VIM_H_

#include <optional>
#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// alpha |R^T (x - u)| - log sum_c exp(z_c) for features x [D] and logits z [K], in units of the logits. u = -W^+ b is
// where the head W, b gives 0 (b = 0: the origin); R [D, D - principal_dim] spans what is orthogonal to the
// principal_dim main directions of the training features around u; alpha is the mean of max_c z_c over that of |R^T (x
// - u)|, both of the training samples. The paper's probability of the virtual class rises with this.
class Vim : public Score {
 public:
  // Where absent, principal_dim is 1000 for D >= 2048, else 512 for D >= 768, else D / 2, rounded down.
  explicit Vim(std::optional<int64_t> principal_dim) : principal_dim_(principal_dim) {}

  // Takes no labels. Errors, beyond those of CheckLogits, CheckFeatureFitInput and HeadOf: kInvalidArgument where
  // principal_dim is not below D, where the main directions miss nothing, and where alpha is not positive.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

  double alpha() const { return alpha_; }

 private:
  // |R^T (x - u)| of each row.
  std::vector<double> Residuals(const ScoreInput& input, const Eigen::MatrixXd& residual_space) const;

  std::optional<int64_t> principal_dim_;
  Eigen::VectorXd origin_;          // [D]
  Eigen::MatrixXd residual_space_;  // R^T
  double alpha_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_VIM_H_
