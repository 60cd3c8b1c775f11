// The features of each class, for fits of one class at a time.
#ifndef OPENSET_EVAL_SCORES_FITS_FEATURES_BY_CLASS_H_
#define OPENSET_EVAL_SCORES_FITS_FEATURES_BY_CLASS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/scores/score.h"

namespace openset {

struct FeaturesOfClass {
  int32_t label = 0;
  std::vector<float> features;  // [n, D], in the order of the samples
};

// One for each label that occurs, ascending. Errors: kInvalidArgument if a matrix [D, D] of doubles for each of them
// would need more than 4 GiB. Preconditions: CheckFitInput and CheckFeatures.
absl::StatusOr<std::vector<FeaturesOfClass>> FeaturesByClass(const ScoreInput& train, absl::Span<const int32_t> labels);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_FEATURES_BY_CLASS_H_
