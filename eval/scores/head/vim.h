// ViM: the logit of a virtual class, from the features outside the main directions of training features (Wang et al.
// 2022).
#ifndef OPENSET_EVAL_SCORES_HEAD_VIM_H_
#define OPENSET_EVAL_SCORES_HEAD_VIM_H_

#include <optional>
#include <vector>

#include "eval/scores/fits/residual_space.h"
#include "eval/scores/score.h"

namespace openset {

// alpha |R (x - u)| - log sum_c exp(z_c) for features x [D] and logits z [K], in units of the logits, with R and u of
// ResidualSpace; alpha is the mean of max_c z_c over that of |R (x - u)|, both of the training samples. The paper's
// probability of the virtual class rises with this.
class Vim : public Score {
 public:
  // `principal_dim`: as ResidualSpace::Fit.
  explicit Vim(std::optional<int64_t> principal_dim) : principal_dim_(principal_dim) {}

  // Ignores labels. Errors, beyond those of CheckLogits and ResidualSpace::Fit: kInvalidArgument if alpha is not
  // positive.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

  double alpha() const { return alpha_; }

 private:
  std::optional<int64_t> principal_dim_;
  ResidualSpace space_;
  double alpha_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_VIM_H_
