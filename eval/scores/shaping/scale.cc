#include "eval/scores/shaping/scale.h"

#include <cmath>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/shaping/activation_ratio.h"

namespace openset {

absl::StatusOr<std::vector<double>> Scale::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  const int64_t keep = NumKept(input.feature_dim, percentile_);
  const std::vector<double> scores =
      HeadEnergy(input, head, [keep](Eigen::Ref<Eigen::VectorXd> x) { x *= std::exp(ActivationRatio(x, keep)); });
  OPENSET_RETURN_IF_ERROR(CheckFinite(scores, "cannot be scaled; scale is for features that are not negative"));
  return scores;
}

}  // namespace openset
