#include "eval/scores/stages/mahalanobis_ensemble.h"

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/stages/stage_values.h"

namespace openset {
namespace {

// The input of a stage's score; `values` are its features.
ScoreInput OfStage(const ScoreInput& input, const std::vector<float>& values, int64_t width) {
  ScoreInput of_stage = input;
  of_stage.features = values;
  of_stage.feature_dim = width;
  return of_stage;
}

}  // namespace

absl::Status MahalanobisEnsemble::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckStageValues(train));
  const size_t count = train.stage_widths.size();
  if (!weights_.empty() && weights_.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("mahalanobis_ensemble has ", weights_.size(), " weights for ", count, " stages"));
  }
  std::vector<Mahalanobis> stages(count);
  for (size_t s = 0; s < count; ++s) {
    const std::vector<float> values = ValuesOfStage(train, s);
    const absl::Status fitted = stages[s].Fit(OfStage(train, values, train.stage_widths[s]), labels);
    if (!fitted.ok()) {
      return absl::Status(fitted.code(), absl::StrCat("stage ", s + 1, ": ", fitted.message()));
    }
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
                             stages_[s].Compute(OfStage(input, values, widths_[s])));
    const double weight = weights_.empty() ? 1 : weights_[s];
    for (size_t row = 0; row < sum.size(); ++row) sum[row] += weight * of_stage[row];
  }
  return sum;
}

}  // namespace openset
