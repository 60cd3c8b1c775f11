// The Mahalanobis distances of several stages together (Lee et al. 2018).
#ifndef OPENSET_EVAL_SCORES_STAGES_MAHALANOBIS_ENSEMBLE_H_
#define OPENSET_EVAL_SCORES_STAGES_MAHALANOBIS_ENSEMBLE_H_

#include <utility>
#include <vector>

#include "eval/scores/features/mahalanobis.h"
#include "eval/scores/score.h"

namespace openset {

// sum_s w_s M_s(x_s), with the mean x_s of each channel of stage s over positions and M_s the score mahalanobis of it
// (eval/scores/features/mahalanobis.h): the squared distance to the nearest class mean by the stage's own covariance.
// At least 0 if no weight is negative.
//
// OpenOOD's mds_ensemble (feature_type mean, reduce_dim none) is the sum of alpha_s M_s / -2, whose alphas are
// given or found by a logistic regression on validation samples, some of which are unknown. Here no score sees unknown
// samples, so the weights must be given. OpenOOD also perturbs the image for each layer by `noise`; this does not
// (noise 0).
class MahalanobisEnsemble : public Score {
 public:
  // One weight for each stage; empty: all 1.
  explicit MahalanobisEnsemble(std::vector<double> weights) : weights_(std::move(weights)) {}

  // Errors: those of CheckStageValues and of Mahalanobis, with the stage; kInvalidArgument for another number of
  // weights than stages.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  const std::vector<double> weights_;
  std::vector<Mahalanobis> stages_;
  std::vector<int64_t> widths_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_STAGES_MAHALANOBIS_ENSEMBLE_H_
