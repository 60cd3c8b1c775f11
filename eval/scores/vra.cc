// VRA: energy after small and large features are suppressed (Xu et al. 2023).
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/fits/percentile.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c exp(z_c) of z = W v(x) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in units of
// the logits. With percentiles l_d and h_d of the training features, v(x)_d is
//   0 (or l_d, if low features are clipped)  for x_d < l_d,
//   h_d                                      for other x_d > h_d,
//   x_d + shift                              for the rest.
class Vra : public Score {
 public:
  explicit Vra(const VraSpec& spec) : spec_(spec) {}

  // Ignores labels.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  const VraSpec spec_;
  Eigen::VectorXd low_, high_;  // [D]
};

absl::Status Vra::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  const int64_t dim = train.feature_dim;
  low_.resize(dim);
  high_.resize(dim);
  if (spec_.thresholds() == VraSpec::OVERALL) {
    const std::vector<float> all(train.features.begin(), train.features.end());
    low_.setConstant(Percentile(all, spec_.low_percentile()));
    high_.setConstant(Percentile(all, spec_.high_percentile()));
    return absl::OkStatus();
  }
  ForEachRowInParallel(dim, [&](int64_t d) {
    std::vector<float> values(train.num_samples);
    for (int64_t row = 0; row < train.num_samples; ++row) values[row] = train.features[row * dim + d];
    low_[d] = Percentile(values, spec_.low_percentile());
    high_[d] = Percentile(values, spec_.high_percentile());
  });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Vra::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, low_.size(), "vra"));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  return HeadEnergy(input, head, [this](Eigen::Ref<Eigen::VectorXd> x) {
    for (int64_t d = 0; d < x.size(); ++d) {
      if (x[d] < low_[d]) {
        x[d] = spec_.low() == VraSpec::CLIP ? low_[d] : 0;
      } else {
        x[d] = x[d] > high_[d] ? high_[d] : x[d] + spec_.shift();
      }
    }
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const VraSpec& spec) { return std::make_unique<Vra>(spec); }

}  // namespace openset
