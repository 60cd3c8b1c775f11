// COMBOOD: combines nearest neighbours and the Mahalanobis distance (Rajasekaran et al. 2024).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "Eigen/Core"
#include "Eigen/Eigenvalues"
#include "absl/status/status.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "eval/scores/fits/yeo_johnson.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// sqrt(D) ln(d_k^2) + m^2 for features x [D] scaled to length 1: d_k the distance to the k-th nearest training sample,
// m^2 = t^T (S + ridge I)^-1 t with t the power-transformed features (yeo_johnson.h, each dimension separately) and S
// their covariance over the training samples, divided by N - 1. A d_k^2 of 0 counts as the smallest normal double.
//
// This is the variant of the released code in which both parts read the penultimate features ("Mahala Pen + KNN Pen,
// log square"). The variant that it reports computes m from the largest and smallest value of each activation layer,
// which stored outputs do not contain. d_k is in double, where the released code uses floats.
class Combood : public Score {
 public:
  explicit Combood(const ComboodSpec& spec) : spec_(spec) {}

  // Errors: also kInvalidArgument for fewer than k or fewer than two samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  // Errors: also kInvalidArgument, with the row, if the power transform of a feature is too large, as it may be far
  // outside of a narrow distribution.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  const ComboodSpec spec_;
  std::unique_ptr<Score> knn_;
  std::vector<PowerTransform> transforms_;  // [D]
  Eigen::MatrixXd whitening_;               // [D, D], W^T W = (S + ridge I)^-1
};

absl::Status Combood::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  KnnSpec nearest;
  nearest.set_k(spec_.k());
  OPENSET_ASSIGN_OR_RETURN(knn_, Make(nearest));
  OPENSET_RETURN_IF_ERROR(knn_->Fit(train, labels));
  const int64_t n = train.num_samples;
  const int64_t dim = train.feature_dim;
  if (n < 2) return absl::InvalidArgumentError("combood needs two training samples at least");
  Eigen::MatrixXd x = Eigen::Map<const Eigen::MatrixXf>(train.features.data(), dim, n).cast<double>();
  NormaliseColumns(&x);
  std::vector<std::optional<PowerTransform>> transforms(dim);
  InParallel(dim, [&](int64_t d) {
    const PowerTransform& transform = transforms[d].emplace(Eigen::VectorXd(x.row(d).transpose()));
    for (int64_t i = 0; i < n; ++i) x(d, i) = transform(x(d, i));
  });
  transforms_.clear();
  for (const std::optional<PowerTransform>& transform : transforms) transforms_.push_back(*transform);
  x.colwise() -= Eigen::VectorXd(x.rowwise().mean());
  Eigen::MatrixXd covariance = x * x.transpose() / static_cast<double>(n - 1);
  covariance.diagonal().array() += spec_.ridge();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  whitening_ = eigen.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal() * eigen.eigenvectors().transpose();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Combood::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, whitening_.rows(), "combood"));
  OPENSET_ASSIGN_OR_RETURN(std::vector<double> scores, knn_->Compute(input));
  const double root = std::sqrt(static_cast<double>(input.feature_dim));
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        NormaliseColumns(block);
        for (int64_t j = 0; j < count; ++j) {
          for (int64_t d = 0; d < block->rows(); ++d) (*block)(d, j) = transforms_[d]((*block)(d, j));
        }
        const Eigen::MatrixXd white = whitening_ * *block;
        for (int64_t j = 0; j < count; ++j) {
          const double squared = std::max(scores[first + j] * scores[first + j], std::numeric_limits<double>::min());
          scores[first + j] = root * std::log(squared) + white.col(j).squaredNorm();
        }
      });
  OPENSET_RETURN_IF_ERROR(
      CheckFinite(scores, "are too far from those of the training samples for their power transform"));
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const ComboodSpec& spec) { return std::make_unique<Combood>(spec); }

}  // namespace openset
