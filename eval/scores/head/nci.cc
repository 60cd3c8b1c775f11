#include "eval/scores/head/nci.h"

#include <algorithm>
#include <limits>

#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"

namespace openset {

absl::Status Nci::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  weight_ = head.weight.transpose();
  mean_ = Mean(train.features, train.feature_dim);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Nci::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, mean_.size(), "nci"));
  OPENSET_RETURN_IF_ERROR(CheckLogitsLikeFitted(input, weight_.cols(), "nci"));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const Eigen::VectorXd x = FeaturesOf(input, row);
    const Eigen::VectorXd centred = x - mean_;
    const double distance = centred.norm();
    const absl::Span<const float> logits = LogitsOf(input, row);
    const float largest = logits[ArgMax(logits)];
    double along = -std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < logits.size(); ++c) {
      if (logits[c] != largest) continue;
      along = std::max(along, weight_.col(static_cast<int64_t>(c)).dot(centred));
      if (tied_ == TiedLogits::kFirst) break;
    }
    scores[row] = -((distance > 0 ? along / distance : 0) + alpha_ * x.lpNorm<1>());
  });
  return scores;
}

}  // namespace openset
