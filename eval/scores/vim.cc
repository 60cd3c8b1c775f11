// ViM: the logit of a virtual class, from the features outside the main directions of training features (Wang et al.
// 2022).
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/status_macros.h"
#include "eval/scores/fits/residual_space.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// alpha |R (x - u)| - log sum_c exp(z_c) for features x [D] and logits z [K], in units of the logits, with R and u of
// ResidualSpace; alpha is the mean of max_c z_c over the mean of |R (x - u)|, both of the training samples. The paper's
// probability of the virtual class rises with this.
class Vim : public Score {
 public:
  explicit Vim(const VimSpec& spec) {
    if (spec.has_principal_dim()) principal_dim_ = spec.principal_dim();
  }

  // Ignores labels. Errors: also kInvalidArgument if no direction is left, or none in which the features vary, and if
  // alpha is not positive.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  std::optional<int64_t> principal_dim_;  // as ResidualSpace::Fit
  ResidualSpace space_;
  double alpha_ = 0;
};

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
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Score> energy, Make(EnergySpec()));
  OPENSET_ASSIGN_OR_RETURN(std::vector<double> scores, energy->Compute(input));
  const std::vector<double> residuals = space_.Lengths(input);
  for (size_t row = 0; row < scores.size(); ++row) scores[row] += alpha_ * residuals[row];
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const VimSpec& spec) { return std::make_unique<Vim>(spec); }

}  // namespace openset
