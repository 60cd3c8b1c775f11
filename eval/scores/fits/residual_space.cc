#include "eval/scores/fits/residual_space.h"

#include <cmath>

#include "Eigen/Eigenvalues"
#include "Eigen/QR"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"

namespace openset {
namespace {

int64_t DefaultPrincipalDim(int64_t dim) {
  if (dim >= 2048) return 1000;
  return dim >= 768 ? 512 : dim / 2;
}

}  // namespace

absl::StatusOr<ResidualSpace> ResidualSpace::Fit(const ScoreInput& train, std::optional<int64_t> principal_dim) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  const int64_t dim = train.feature_dim;
  const int64_t main_dim = principal_dim.value_or(DefaultPrincipalDim(dim));
  if (main_dim >= dim) {
    return absl::InvalidArgumentError(
        absl::StrCat("principal_dim is ", main_dim, "; it must be below the ", dim, " features"));
  }
  ResidualSpace space;
  space.origin_ = -head.weight.completeOrthogonalDecomposition().solve(head.bias);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(CovarianceAbout(train.features, space.origin_));
  space.directions_ = eigen.eigenvectors().leftCols(dim - main_dim).transpose();  // they ascend
  for (const double length : space.Lengths(train)) space.training_length_ += length;
  const double lengths = std::sqrt(eigen.eigenvalues().cwiseMax(0).sum()) * train.num_samples;
  if (!(space.training_length_ > 1e-12 * lengths)) {
    // Rounding leaves about 4e-15 of the largest eigenvalue if features are f32, and 1e-16 if they are f64.
    const int64_t spanned = (eigen.eigenvalues().array() > 1e-14 * eigen.eigenvalues().maxCoeff()).count();
    return absl::InvalidArgumentError(absl::StrCat("the training features span ", spanned, " of ", dim,
                                                   " directions; principal_dim (", main_dim, ") must be below ",
                                                   spanned));
  }
  return space;
}

std::vector<double> ResidualSpace::Lengths(const ScoreInput& input) const {
  std::vector<double> lengths(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              block->colwise() -= origin_;
                              const Eigen::MatrixXd residual = directions_ * *block;
                              for (int64_t j = 0; j < count; ++j) lengths[first + j] = residual.col(j).norm();
                            });
  return lengths;
}

}  // namespace openset
