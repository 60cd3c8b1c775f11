// PostMax: the largest logit over the length of the features (Cruz et al. 2024).
#ifndef OPENSET_EVAL_SCORES_FEATURES_POSTMAX_H_
#define OPENSET_EVAL_SCORES_FEATURES_POSTMAX_H_

#include <vector>

#include "eval/scores/fits/extreme_values.h"
#include "eval/scores/score.h"

namespace openset {

// -P(max_c z_c / |x|) in [-1, 0] for logits z [K] and features x [D], P the distribution function of the generalised
// Pareto distribution of the same quotient over the correctly classified training samples, fitted as in the released
// code (generalized_pareto.h). All samples below P's support are equally unknown. A length of 0 counts as 2^-52.
class PostMax : public Score {
 public:
  // Errors, beyond those of CheckFitInput and CheckFeatures: kInvalidArgument for fewer than two correctly classified
  // samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  GeneralizedPareto quotients_;
  int64_t feature_dim_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_POSTMAX_H_
