#include "eval/scores/shaping/react.h"

#include "core/status_macros.h"
#include "eval/scores/fits/percentile.h"
#include "eval/scores/input.h"

namespace openset {

absl::Status React::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  if (!fit_) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  clip_ = Percentile(std::vector<float>(train.features.begin(), train.features.end()), percentile_);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> React::Compute(const ScoreInput& input) const {
  if (!clip_.has_value()) return absl::FailedPreconditionError("react has no clip: it must be fitted first");
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  return HeadEnergy(input, head, [this](Eigen::Ref<Eigen::VectorXd> x) { x = x.cwiseMin(*clip_); });
}

}  // namespace openset
