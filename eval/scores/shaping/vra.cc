#include "eval/scores/shaping/vra.h"

#include "core/status_macros.h"
#include "eval/scores/fits/percentile.h"
#include "eval/scores/input.h"

namespace openset {

absl::Status Vra::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  const int64_t dim = train.feature_dim;
  low_.resize(dim);
  high_.resize(dim);
  if (!options_.per_feature) {
    const std::vector<float> all(train.features.begin(), train.features.end());
    low_.setConstant(Percentile(all, options_.low_percentile));
    high_.setConstant(Percentile(all, options_.high_percentile));
    return absl::OkStatus();
  }
  ForEachRowInParallel(dim, [&](int64_t d) {
    std::vector<float> values(train.num_samples);
    for (int64_t row = 0; row < train.num_samples; ++row) values[row] = train.features[row * dim + d];
    low_[d] = Percentile(values, options_.low_percentile);
    high_[d] = Percentile(values, options_.high_percentile);
  });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Vra::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, low_.size(), "vra"));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  return HeadEnergy(input, head, [this](Eigen::Ref<Eigen::VectorXd> x) {
    for (int64_t d = 0; d < x.size(); ++d) {
      if (x[d] < low_[d]) {
        x[d] = options_.clip_low ? low_[d] : 0;
      } else {
        x[d] = x[d] > high_[d] ? high_[d] : x[d] + options_.shift;
      }
    }
  });
}

}  // namespace openset
