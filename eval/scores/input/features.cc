#include "eval/scores/input/features.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"

namespace openset {

absl::Status CheckFeatures(const ScoreInput& input) {
  if (input.features.empty() && input.num_samples > 0) {
    return absl::InvalidArgumentError("the score needs features, which the outputs lack");
  }
  if (input.feature_dim < 1) {
    return absl::InvalidArgumentError(absl::StrCat("feature_dim must be at least 1 (is ", input.feature_dim, ")"));
  }
  if (input.features.size() != input.num_samples * input.feature_dim) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", input.features.size(), " features for ",
                                                   input.num_samples, " samples of ", input.feature_dim));
  }
  for (int64_t i = 0; i < input.features.size(); ++i) {
    if (!std::isfinite(input.features[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("features are not finite in row ", i / input.feature_dim, ", feature ", i % input.feature_dim));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFeatureFitInput(const ScoreInput& train) {
  if (train.num_samples == 0) return absl::InvalidArgumentError("there are no samples to fit the score to");
  return CheckFeatures(train);
}

absl::Status CheckFeaturesLikeFitted(const ScoreInput& input, int64_t fitted_dim, absl::string_view name) {
  if (fitted_dim == 0) {
    return absl::FailedPreconditionError(absl::StrCat(name, " must be fitted before it can score"));
  }
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  if (input.feature_dim != fitted_dim) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " was fitted to ", fitted_dim, " features; these outputs have ", input.feature_dim));
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(absl::Span<const double> scores, absl::string_view problem) {
  for (size_t row = 0; row < scores.size(); ++row) {
    if (!std::isfinite(scores[row])) {
      return absl::InvalidArgumentError(absl::StrCat("the features of row ", row, " ", problem));
    }
  }
  return absl::OkStatus();
}

Eigen::VectorXd FeaturesOf(const ScoreInput& input, int64_t row) {
  return Eigen::Map<const Eigen::VectorXf>(input.features.data() + row * input.feature_dim, input.feature_dim)
      .cast<double>();
}

}  // namespace openset
