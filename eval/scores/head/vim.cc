#include "eval/scores/head/vim.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/logits/energy.h"
#include "eval/softmax.h"

namespace openset {

absl::Status Vim::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckLogits(train));
  OPENSET_ASSIGN_OR_RETURN(ResidualSpace space, ResidualSpace::Fit(train, principal_dim_));
  double max_logits = 0;
  for (int64_t row = 0; row < train.num_samples; ++row) {
    const absl::Span<const float> logits = LogitsOf(train, row);
    max_logits += logits[ArgMax(logits)];
  }
  alpha_ = max_logits / space.training_length();
  if (!(alpha_ > 0) || !std::isfinite(alpha_)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "ViM can't be used: this network's largest logits average %.3g on the training samples, and the "
        "score needs a positive number. Train longer, or drop vim",
        max_logits / static_cast<double>(train.num_samples)));
  }
  space_ = std::move(space);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Vim::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, space_.feature_dim(), "vim"));
  OPENSET_ASSIGN_OR_RETURN(std::vector<double> scores, Energy(1).Compute(input));
  const std::vector<double> residuals = space_.Lengths(input);
  for (size_t row = 0; row < scores.size(); ++row) scores[row] += alpha_ * residuals[row];
  return scores;
}

}  // namespace openset
