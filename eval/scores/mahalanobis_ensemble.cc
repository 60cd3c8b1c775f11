// The Mahalanobis distances of several stages together (Lee et al. 2018).
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/score_members.h"
#include "eval/scores/stage_values.h"

namespace openset {
namespace {

// sum_s w_s M_s(x_s), with the mean x_s of each channel of stage s over positions and M_s the score mahalanobis of it
// (mahalanobis.cc): the squared distance to the nearest class mean by the stage's own covariance.
// At least 0 if no weight is negative.
//
// OpenOOD's mds_ensemble (feature_type mean, reduce_dim none) is the sum of alpha_s M_s / -2, whose alphas are
// given or found by a logistic regression on validation samples, some of which are unknown. Here no score sees unknown
// samples, so the weights must be given. OpenOOD also perturbs the image for each layer by `noise`; this does not
// (noise 0).
class MahalanobisEnsemble : public Score {
 public:
  explicit MahalanobisEnsemble(const MahalanobisEnsembleSpec& spec)
      : weights_(spec.weight().begin(), spec.weight().end()) {}

  // Errors: also kInvalidArgument, with the stage, if its values have no variance within classes, and for another
  // number of weights than stages.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  const std::vector<double> weights_;  // one for each stage; empty: all 1
  std::vector<std::unique_ptr<Score>> stages_;
  std::vector<int64_t> widths_;
};

// The input of a stage's score; `values` are its features.
ScoreInput OfStage(const ScoreInput& input, const std::vector<float>& values, int64_t width) {
  ScoreInput of_stage = input;
  of_stage.features = values;
  of_stage.feature_dim = width;
  return of_stage;
}

absl::Status MahalanobisEnsemble::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckStageValues(train));
  const size_t count = train.stage_widths.size();
  if (!weights_.empty() && weights_.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("mahalanobis_ensemble has ", weights_.size(), " weights for ", count, " stages"));
  }
  std::vector<std::unique_ptr<Score>> stages(count);
  for (size_t s = 0; s < count; ++s) {
    const std::vector<float> values = ValuesOfStage(train, s);
    OPENSET_ASSIGN_OR_RETURN(stages[s], Make(MahalanobisSpec()));
    const absl::Status fitted = stages[s]->Fit(OfStage(train, values, train.stage_widths[s]), labels);
    if (!fitted.ok()) return absl::Status(fitted.code(), absl::StrCat("stage ", s + 1, ": ", fitted.message()));
  }
  stages_ = std::move(stages);
  widths_.assign(train.stage_widths.begin(), train.stage_widths.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> MahalanobisEnsemble::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckStageValuesLikeFitted(input, widths_, "mahalanobis_ensemble"));
  std::vector<double> sum(input.num_samples, 0);
  for (size_t s = 0; s < stages_.size(); ++s) {
    const std::vector<float> values = ValuesOfStage(input, s);
    OPENSET_ASSIGN_OR_RETURN(const std::vector<double> of_stage,
                             stages_[s]->Compute(OfStage(input, values, widths_[s])));
    const double weight = weights_.empty() ? 1 : weights_[s];
    for (size_t row = 0; row < sum.size(); ++row) sum[row] += weight * of_stage[row];
  }
  return sum;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const MahalanobisEnsembleSpec& spec) {
  return std::make_unique<MahalanobisEnsemble>(spec);
}

}  // namespace openset
