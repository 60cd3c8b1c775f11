// ReAct: energy after the features are clipped (Sun et al. 2021).
#include <memory>
#include <optional>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/fits/percentile.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c exp(z_c) of z = W min(x, clip) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in
// units of the logits. With an infinite clip it is the energy.
class React : public Score {
 public:
  // Without a clip, Fit() takes the `percentile`-th percentile of all values of all training features.
  explicit React(const ReactSpec& spec) : fit_(!spec.has_clip()), percentile_(spec.percentile()) {
    if (spec.has_clip()) clip_ = spec.clip();
  }

  // Ignores labels. Does nothing if the clip is given.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  std::optional<double> clip_;
  bool fit_;
  double percentile_;
};

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const ReactSpec& spec) { return std::make_unique<React>(spec); }

}  // namespace openset
