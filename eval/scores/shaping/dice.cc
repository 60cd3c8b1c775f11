#include "eval/scores/shaping/dice.h"

#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/fits/percentile.h"
#include "eval/scores/input.h"

namespace openset {

absl::Status Dice::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_ASSIGN_OR_RETURN(LinearHead head, HeadOf(train));
  if (percentile_ > 0) {
    const Eigen::VectorXd mean = Mean(train.features, train.feature_dim);
    const Eigen::MatrixXd contribution = head.weight * mean.asDiagonal();
    const double threshold =
        Percentile(std::vector<double>(contribution.data(), contribution.data() + contribution.size()), percentile_);
    head.weight = (contribution.array() > threshold).select(head.weight, 0);
  }
  head_ = std::move(head);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Dice::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, head_.weight.cols(), "dice"));
  return HeadEnergy(input, head_, [](Eigen::Ref<Eigen::VectorXd>) {});
}

}  // namespace openset
