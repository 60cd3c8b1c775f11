// COMBOOD: combines nearest neighbours and the Mahalanobis distance (Rajasekaran et al. 2024).
#ifndef OPENSET_EVAL_SCORES_FEATURES_COMBOOD_H_
#define OPENSET_EVAL_SCORES_FEATURES_COMBOOD_H_

#include <cstdint>
#include <vector>

#include "Eigen/Core"
#include "eval/scores/features/knn.h"
#include "eval/scores/fits/yeo_johnson.h"
#include "eval/scores/score.h"

namespace openset {

// sqrt(D) ln(d_k^2) + m^2 for features x [D] scaled to length 1: d_k the distance to the k-th nearest training sample,
// m^2 = t^T (S + ridge I)^-1 t with t the power-transformed features (yeo_johnson.h, each dimension separately) and S
// their covariance over the training samples, divided by N - 1. A d_k^2 of 0 counts as the smallest normal double.
//
// This is the variant of the released code in which both parts read the penultimate features ("Mahala Pen + KNN Pen,
// log square"). The variant that it reports computes m from the largest and smallest value of each activation layer,
// which stored outputs do not contain. d_k is in double, where the released code uses floats.
class Combood : public Score {
 public:
  // Preconditions: k >= 1, ridge > 0.
  Combood(int64_t k, double ridge) : ridge_(ridge), knn_(k) {}

  // Errors: those of CheckFeatureFitInput; kInvalidArgument for fewer than k or fewer than two samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  // Errors, beyond those of all scores: kInvalidArgument, with the row, if the power transform of a feature is too
  // large, as it may be far outside of a narrow distribution.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double ridge_;
  Knn knn_;
  std::vector<PowerTransform> transforms_;  // [D]
  Eigen::MatrixXd whitening_;               // [D, D], W^T W = (S + ridge I)^-1
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_COMBOOD_H_
