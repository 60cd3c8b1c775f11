#include "eval/scores/features/gaussian.h"

#include <limits>

#include "Eigen/Eigenvalues"
#include "eval/scores/features/row_blocks.h"

namespace openset {

std::vector<Eigen::VectorXd> ClassMeans(absl::Span<const float> features, int64_t dim, absl::Span<const int32_t> labels,
                                        int64_t num_classes, RowScale scale) {
  std::vector<Eigen::VectorXd> means(num_classes);
  std::vector<int64_t> counts(num_classes, 0);
  for (size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] < 0) continue;
    Eigen::VectorXd& mean = means[labels[row]];
    if (mean.size() == 0) mean = Eigen::VectorXd::Zero(dim);
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXf>(features.data() + row * dim, dim).cast<double>();
    const double norm = scale == RowScale::kUnitLength ? x.norm() : 1;
    mean += norm > 0 ? Eigen::VectorXd(x / norm) : x;
    ++counts[labels[row]];
  }
  for (int64_t c = 0; c < num_classes; ++c) {
    if (counts[c] > 0) means[c] /= static_cast<double>(counts[c]);
  }
  return means;
}

Eigen::VectorXd Mean(absl::Span<const float> features, int64_t dim, RowScale scale) {
  return ClassMeans(features, dim, std::vector<int32_t>(features.size() / dim, 0), 1, scale)[0];
}

Eigen::MatrixXd Covariance(absl::Span<const float> features, absl::Span<const int32_t> labels,
                           const std::vector<Eigen::VectorXd>& centres, RowScale scale) {
  const int64_t dim = centres[labels[0]].size();
  Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(dim, dim);
  ForEachRowBlock(features, dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
    if (scale == RowScale::kUnitLength) NormaliseColumns(block);
    for (int64_t j = 0; j < count; ++j) block->col(j) -= centres[labels[first + j]];
    scatter.selfadjointView<Eigen::Lower>().rankUpdate(*block);
  });
  scatter /= static_cast<double>(labels.size());
  return scatter.selfadjointView<Eigen::Lower>();
}

Eigen::MatrixXd CovarianceAbout(absl::Span<const float> features, const Eigen::VectorXd& centre, RowScale scale) {
  return Covariance(features, std::vector<int32_t>(features.size() / centre.size(), 0), {centre}, scale);
}

absl::StatusOr<Eigen::MatrixXd> Whitening(const Eigen::MatrixXd& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  const int64_t dim = covariance.rows();
  const double largest = eigen.eigenvalues()[dim - 1];  // they ascend
  const double smallest = dim * std::numeric_limits<double>::epsilon() * largest;
  const int64_t rank = (eigen.eigenvalues().array() > smallest).count();
  if (!(largest > 0) || rank == 0) {
    return absl::InvalidArgumentError("the training features have no variance");
  }
  return eigen.eigenvalues().tail(rank).cwiseSqrt().cwiseInverse().asDiagonal() *
         eigen.eigenvectors().rightCols(rank).transpose();
}

}  // namespace openset
