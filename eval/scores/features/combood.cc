#include "eval/scores/features/combood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "Eigen/Eigenvalues"
#include "absl/status/status.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"

namespace openset {

absl::Status Combood::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(knn_.Fit(train, labels));
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
  covariance.diagonal().array() += ridge_;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  whitening_ = eigen.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal() * eigen.eigenvectors().transpose();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Combood::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, whitening_.rows(), "combood"));
  OPENSET_ASSIGN_OR_RETURN(std::vector<double> scores, knn_.Compute(input));
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

}  // namespace openset
