// SSD's Mahalanobis distance (Sehwag et al. 2021).
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// min_k (u - m_k)^T S_k^+ (u - m_k) >= 0 for features x [D] and u = (x / |x| - m) / s, where m and s [D] are mean and
// standard deviation of x / |x| over all training samples, and m_k and S_k mean and covariance of u over cluster k.
// Features with s = 0 and directions without variance are ignored. All training samples form one cluster, or each class
// forms one.
class Ssd : public Score {
 public:
  explicit Ssd(const SsdSpec& spec) : clusters_(spec.clusters()) {}

  // Ignores labels if there is one cluster. Errors: also kInvalidArgument, with the class, for features without
  // variance, and for more classes and features than fit in memory.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct Cluster {
    Eigen::VectorXd mean;       // [D], of x / |x|
    Eigen::MatrixXd whitening;  // [r, D]
  };
  SsdSpec::Clusters clusters_;
  int64_t feature_dim_ = 0;
  std::vector<Cluster> fitted_;
};

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
  if (clusters_ != SsdSpec::CLASSES) {
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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const SsdSpec& spec) { return std::make_unique<Ssd>(spec); }

}  // namespace openset
