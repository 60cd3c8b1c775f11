// The length of the features outside the main directions of the training features (Wang et al. 2022).
#ifndef OPENSET_EVAL_SCORES_HEAD_RESIDUAL_H_
#define OPENSET_EVAL_SCORES_HEAD_RESIDUAL_H_

#include <optional>
#include <vector>

#include "eval/scores/fits/residual_space.h"
#include "eval/scores/score.h"

namespace openset {

// |R (x - u)| >= 0 (ResidualSpace) for features x [D], in units of the features: vim's first term. OpenOOD fits it to
// validation samples.
class Residual : public Score {
 public:
  // `principal_dim`: as ResidualSpace::Fit.
  explicit Residual(std::optional<int64_t> principal_dim) : principal_dim_(principal_dim) {}

  // Ignores labels. Errors: those of ResidualSpace::Fit.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  std::optional<int64_t> principal_dim_;
  ResidualSpace space_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_RESIDUAL_H_
