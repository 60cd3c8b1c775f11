#include "eval/scores/features/mahalanobis.h"

#include <algorithm>

#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"

namespace openset {

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

}  // namespace openset
