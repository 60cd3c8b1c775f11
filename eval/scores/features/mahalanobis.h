// Mahalanobis distance to the nearest class, and relative to all classes together.
#ifndef OPENSET_EVAL_SCORES_FEATURES_MAHALANOBIS_H_
#define OPENSET_EVAL_SCORES_FEATURES_MAHALANOBIS_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/score.h"

namespace openset {

// min_c (x - m_c)^T S^-1 (x - m_c) >= 0 for features x [D], with the mean m_c of each class of the training samples and
// their common covariance S = (1/N) sum_i (x_i - m_{y_i}) (x_i - m_{y_i})^T (Lee et al. 2018, on the last layer's
// features; its input perturbation and its logistic regression over layers are not part of this). S^-1 is the
// pseudo-inverse if S is singular, so that constant directions are ignored. With all features scaled to length 1, it is
// Mahalanobis++ (Mueller and Hein 2025).
class Mahalanobis : public Score {
 public:
  explicit Mahalanobis(RowScale scale = RowScale::kAsIs) : scale_(scale) {}

  // Errors, beyond those of CheckFitInput and CheckFeatures: kInvalidArgument if the features have no variance
  // within classes.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  RowScale scale_;
  Eigen::VectorXd centre_;       // [D], mean of all features
  Eigen::MatrixXd whitening_;    // [r, D]
  Eigen::MatrixXd class_means_;  // [classes, r], of whitening_ * (x - centre_)
  Eigen::VectorXd squares_;      // [classes], their squared norms
};

// Mahalanobis minus (x - m)^T T^-1 (x - m), with the mean m and the covariance T of all training features (Ren et al.
// 2021). May be negative.
class RelativeMahalanobis : public Score {
 public:
  explicit RelativeMahalanobis(RowScale scale = RowScale::kAsIs) : scale_(scale), classes_(scale) {}

  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  RowScale scale_;
  Mahalanobis classes_;
  Eigen::VectorXd centre_;
  Eigen::MatrixXd whitening_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_MAHALANOBIS_H_
