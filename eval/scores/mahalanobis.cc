// Mahalanobis distance to the nearest class, and relative to all classes together.
#include <algorithm>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// min_c (x - m_c)^T S^-1 (x - m_c) >= 0 for features x [D], with the mean m_c of each class of the training samples and
// their common covariance S = (1/N) sum_i (x_i - m_{y_i}) (x_i - m_{y_i})^T (Lee et al. 2018, on the last layer's
// features; its input perturbation and its logistic regression over layers are not part of this). S^-1 is the
// pseudo-inverse if S is singular, so that constant directions are ignored. With all features scaled to length 1, it is
// Mahalanobis++ (Mueller and Hein 2025).
class Mahalanobis : public Score {
 public:
  explicit Mahalanobis(RowScale scale = RowScale::kAsIs) : scale_(scale) {}

  // Errors: also kInvalidArgument if the features have no variance within classes.
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

absl::Status Mahalanobis::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  std::vector<Eigen::VectorXd> means = ClassMeans(train.features, train.feature_dim, labels, train.num_outputs, scale_);
  OPENSET_ASSIGN_OR_RETURN(whitening_, Whitening(Covariance(train.features, labels, means, scale_)));
  means.erase(std::remove_if(means.begin(), means.end(), [](const Eigen::VectorXd& mean) { return mean.size() == 0; }),
              means.end());
  centre_ = Mean(train.features, train.feature_dim, scale_);
  class_means_.resize(means.size(), whitening_.rows());
  for (size_t c = 0; c < means.size(); ++c) class_means_.row(c) = (whitening_ * (means[c] - centre_)).transpose();
  squares_ = class_means_.rowwise().squaredNorm();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Mahalanobis::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, centre_.size(), "mahalanobis"));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        if (scale_ == RowScale::kUnitLength) NormaliseColumns(block);
        block->colwise() -= centre_;
        const Eigen::MatrixXd white = whitening_ * *block;
        // |white - mean_c|^2 = |white|^2 + (|mean_c|^2 - 2 mean_c . white)
        const Eigen::MatrixXd offset = (-2 * (class_means_ * white)).colwise() + squares_;
        for (int64_t j = 0; j < count; ++j) {
          scores[first + j] = std::max(0.0, white.col(j).squaredNorm() + offset.col(j).minCoeff());
        }
      });
  return scores;
}

absl::Status RelativeMahalanobis::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(classes_.Fit(train, labels));
  const Eigen::VectorXd centre = Mean(train.features, train.feature_dim, scale_);
  OPENSET_ASSIGN_OR_RETURN(whitening_, Whitening(CovarianceAbout(train.features, centre, scale_)));
  centre_ = centre;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> RelativeMahalanobis::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, centre_.size(), "relative_mahalanobis"));
  OPENSET_ASSIGN_OR_RETURN(std::vector<double> scores, classes_.Compute(input));
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              if (scale_ == RowScale::kUnitLength) NormaliseColumns(block);
                              block->colwise() -= centre_;
                              const Eigen::MatrixXd white = whitening_ * *block;
                              for (int64_t j = 0; j < count; ++j) scores[first + j] -= white.col(j).squaredNorm();
                            });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const MahalanobisSpec&) {
  return std::make_unique<Mahalanobis>(RowScale::kAsIs);
}

absl::StatusOr<std::unique_ptr<Score>> Make(const RelativeMahalanobisSpec&) {
  return std::make_unique<RelativeMahalanobis>(RowScale::kAsIs);
}

absl::StatusOr<std::unique_ptr<Score>> Make(const MahalanobisPlusPlusSpec&) {
  return std::make_unique<Mahalanobis>(RowScale::kUnitLength);
}

absl::StatusOr<std::unique_ptr<Score>> Make(const RelativeMahalanobisPlusPlusSpec&) {
  return std::make_unique<RelativeMahalanobis>(RowScale::kUnitLength);
}

}  // namespace openset
