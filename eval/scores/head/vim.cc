#include "eval/scores/head/vim.h"

#include <cmath>

#include "Eigen/Eigenvalues"
#include "Eigen/QR"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/features/features.h"
#include "eval/scores/features/gaussian.h"
#include "eval/scores/features/row_blocks.h"
#include "eval/scores/head/linear_head.h"
#include "eval/scores/logits/energy.h"
#include "eval/scores/logits/score_rows.h"
#include "eval/scores/logits/softmax.h"

namespace openset {
namespace {

int64_t DefaultPrincipalDim(int64_t dim) {
  if (dim >= 2048) return 1000;
  return dim >= 768 ? 512 : dim / 2;
}

}  // namespace

absl::Status Vim::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_RETURN_IF_ERROR(CheckLogits(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  const int64_t dim = train.feature_dim;
  const int64_t principal_dim = principal_dim_.value_or(DefaultPrincipalDim(dim));
  if (principal_dim >= dim) {
    return absl::InvalidArgumentError(
        absl::StrCat("principal_dim is ", principal_dim, "; it must be below the ", dim, " features"));
  }
  origin_ = -head.weight.completeOrthogonalDecomposition().solve(head.bias);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(CovarianceAbout(train.features, origin_));
  Eigen::MatrixXd residual_space = eigen.eigenvectors().leftCols(dim - principal_dim).transpose();  // they ascend

  double max_logits = 0;
  for (int64_t row = 0; row < train.num_samples; ++row) {
    const absl::Span<const float> logits = train.logits.subspan(row * train.num_outputs, train.num_outputs);
    max_logits += logits[ArgMax(logits)];
  }
  double residuals = 0;
  double lengths = 0;
  for (const double residual : Residuals(train, residual_space)) residuals += residual;
  lengths = std::sqrt(eigen.eigenvalues().cwiseMax(0).sum()) * train.num_samples;
  if (!(residuals > 1e-12 * lengths)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the training features lie in ", principal_dim, " directions; principal_dim must be smaller"));
  }
  alpha_ = max_logits / residuals;
  if (!(alpha_ > 0) || !std::isfinite(alpha_)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the mean largest logit of the training samples must be positive and finite (is ",
                     max_logits / train.num_samples, ")"));
  }
  residual_space_ = std::move(residual_space);
  return absl::OkStatus();
}

std::vector<double> Vim::Residuals(const ScoreInput& input, const Eigen::MatrixXd& residual_space) const {
  std::vector<double> residuals(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              block->colwise() -= origin_;
                              const Eigen::MatrixXd residual = residual_space * *block;
                              for (int64_t j = 0; j < count; ++j) residuals[first + j] = residual.col(j).norm();
                            });
  return residuals;
}

absl::StatusOr<std::vector<double>> Vim::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, residual_space_.cols(), "vim"));
  OPENSET_ASSIGN_OR_RETURN(std::vector<double> scores, Energy(1).Compute(input));
  const std::vector<double> residuals = Residuals(input, residual_space_);
  for (size_t row = 0; row < scores.size(); ++row) scores[row] += alpha_ * residuals[row];
  return scores;
}

}  // namespace openset
