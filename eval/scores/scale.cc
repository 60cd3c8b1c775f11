// SCALE: energy after each sample's features are scaled (Xu et al. 2024).
#include <cmath>
#include <memory>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/activation_ratio.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c exp(z_c) of z = W (x exp(r)) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in units
// of the logits: r is the sum of all features over the sum of the D - round(D percentile / 100) largest
// (ActivationRatio).
// All features are scaled; ash S also drops the smaller ones.
class Scale : public Score {
 public:
  // Precondition: 0 <= percentile <= 100.
  explicit Scale(double percentile) : percentile_(percentile) {}

  // Errors, in addition: kInvalidArgument, with the row, if negative features leave no ratio (ActivationRatio is NaN).
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double percentile_;
};

absl::StatusOr<std::vector<double>> Scale::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  const int64_t keep = NumKept(input.feature_dim, percentile_);
  const std::vector<double> scores =
      HeadEnergy(input, head, [keep](Eigen::Ref<Eigen::VectorXd> x) { x *= std::exp(ActivationRatio(x, keep)); });
  OPENSET_RETURN_IF_ERROR(CheckFinite(scores, "cannot be scaled; scale is for features that are not negative"));
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const ScaleSpec& spec) {
  return std::make_unique<Scale>(spec.percentile());
}

}  // namespace openset
