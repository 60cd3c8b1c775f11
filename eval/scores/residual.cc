// The length of the features outside the main directions of the training features (Wang et al. 2022).
#include <memory>
#include <optional>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/fits/residual_space.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// |R (x - u)| >= 0 (ResidualSpace) for features x [D], in units of the features: vim's first term. OpenOOD fits it to
// validation samples.
class Residual : public Score {
 public:
  explicit Residual(const ResidualSpec& spec) {
    if (spec.has_principal_dim()) principal_dim_ = spec.principal_dim();
  }

  // Ignores labels. Errors: also kInvalidArgument if no direction is left, or none in which the features vary.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  std::optional<int64_t> principal_dim_;  // as ResidualSpace::Fit
  ResidualSpace space_;
};

absl::Status Residual::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_ASSIGN_OR_RETURN(space_, ResidualSpace::Fit(train, principal_dim_));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Residual::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, space_.feature_dim(), "residual"));
  return space_.Lengths(input);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const ResidualSpec& spec) { return std::make_unique<Residual>(spec); }

}  // namespace openset
