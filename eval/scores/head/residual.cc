#include "eval/scores/head/residual.h"

#include "core/status_macros.h"
#include "eval/scores/input.h"

namespace openset {

absl::Status Residual::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_ASSIGN_OR_RETURN(space_, ResidualSpace::Fit(train, principal_dim_));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Residual::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, space_.feature_dim(), "residual"));
  return space_.Lengths(input);
}

}  // namespace openset
