// Checks of a model's features before a score uses them.
#ifndef OPENSET_EVAL_SCORES_INPUT_FEATURES_H_
#define OPENSET_EVAL_SCORES_INPUT_FEATURES_H_

#include <cstdint>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "eval/scores/score.h"

namespace openset {

// OK if `input` has features of its stated shape, all finite. Errors: kInvalidArgument, with the row if a row is
// invalid.
absl::Status CheckFeatures(const ScoreInput& input);

// For Fit() of a score that uses features and no labels: calls CheckFeatures and checks that there is a sample.
absl::Status CheckFeatureFitInput(const ScoreInput& train);

// For Compute() of the score `name`, fitted to features of `fitted_dim` values: CheckFeatures, and the same number of
// values. Errors, in addition: kFailedPrecondition for a fitted_dim of 0, which means that the score is not fitted yet.
absl::Status CheckFeaturesLikeFitted(const ScoreInput& input, int64_t fitted_dim, absl::string_view name);

// OK if all `scores` are finite. Errors: kInvalidArgument, "the features of row 3 " and `problem`, with the first row
// that isn't.
absl::Status CheckFinite(absl::Span<const double> scores, absl::string_view problem);

// The features [D] of a row, in double. Precondition: CheckFeatures.
Eigen::VectorXd FeaturesOf(const ScoreInput& input, int64_t row);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_INPUT_FEATURES_H_
