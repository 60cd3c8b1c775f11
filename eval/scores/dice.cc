// DICE: energy of a head without the weights that contribute little (Sun and Li 2022).
#include <memory>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/fits/percentile.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c exp(z_c) of z = (W * M) x + b for features x [D], in units of the logits, with the head W [K, D], b [K] of
// the training outputs. M_cd is 1 if the contribution W_cd mean(x_d), over the training samples, is above the
// `percentile`-th percentile of all K D contributions, else 0. With percentile 0, all M_cd are 1, and it is the energy.
class Dice : public Score {
 public:
  // Precondition: 0 <= percentile <= 100.
  explicit Dice(double percentile) : percentile_(percentile) {}

  // Ignores labels.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double percentile_;
  LinearHead head_;  // with the remaining weights
};

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const DiceSpec& spec) { return std::make_unique<Dice>(spec.percentile()); }

}  // namespace openset
