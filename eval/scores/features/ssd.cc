#include "eval/scores/features/ssd.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"

namespace openset {

absl::Status Ssd::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  const int64_t dim = train.feature_dim;
  const Eigen::VectorXd centre = Mean(train.features, dim, RowScale::kUnitLength);
  const Eigen::MatrixXd covariance = CovarianceAbout(train.features, centre, RowScale::kUnitLength);
  // 1 / s, which whitens standardised features; 0 for constant ones.
  const double smallest = dim * std::numeric_limits<double>::epsilon() * covariance.diagonal().maxCoeff();
  const Eigen::ArrayXd variance = covariance.diagonal();
  const Eigen::VectorXd inverse = (variance > smallest).select(variance.rsqrt(), 0.0).matrix();
  const auto whitening = [&](const Eigen::MatrixXd& of) -> absl::StatusOr<Eigen::MatrixXd> {
    OPENSET_ASSIGN_OR_RETURN(const Eigen::MatrixXd white, Whitening(inverse.asDiagonal() * of * inverse.asDiagonal()));
    return Eigen::MatrixXd(white * inverse.asDiagonal());
  };
  std::vector<Cluster> fitted;
  if (clusters_ == Clusters::kOne) {
    OPENSET_ASSIGN_OR_RETURN(fitted.emplace_back().whitening, whitening(covariance));
    fitted.back().mean = centre;
  } else {
    OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
    OPENSET_ASSIGN_OR_RETURN(const std::vector<FeaturesOfClass> classes, FeaturesByClass(train, labels));
    for (const FeaturesOfClass& of : classes) {
      Cluster& cluster = fitted.emplace_back();
      cluster.mean = Mean(of.features, dim, RowScale::kUnitLength);
      absl::StatusOr<Eigen::MatrixXd> white =
          whitening(CovarianceAbout(of.features, cluster.mean, RowScale::kUnitLength));
      if (!white.ok()) return Annotate(white.status(), absl::StrCat("class ", of.label));
      cluster.whitening = *std::move(white);
    }
  }
  fitted_ = std::move(fitted);
  feature_dim_ = dim;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Ssd::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, feature_dim_, "ssd"));
  std::vector<double> scores(input.num_samples, std::numeric_limits<double>::infinity());
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        NormaliseColumns(block);
        for (const Cluster& cluster : fitted_) {
          const Eigen::MatrixXd white = cluster.whitening * (block->colwise() - cluster.mean);
          for (int64_t j = 0; j < count; ++j) {
            scores[first + j] = std::min(scores[first + j], Eigen::VectorXd(white.col(j)).squaredNorm());
          }
        }
      });
  return scores;
}

}  // namespace openset
