#include "eval/scores/features/relation.h"

#include <algorithm>
#include <cmath>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {
namespace {

constexpr int64_t kChunk = 512;  // training samples in a product

double Scale(const Eigen::VectorXd& x) { return 1 / std::sqrt(x.squaredNorm() + 1e-10); }

Eigen::VectorXd ProbabilitiesOf(const ScoreInput& input, int64_t row) {
  const std::vector<double> p = Softmax(LogitsOf(input, row));
  return Eigen::Map<const Eigen::VectorXd>(p.data(), static_cast<int64_t>(p.size()));
}

}  // namespace

absl::Status Relation::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_RETURN_IF_ERROR(CheckLogits(train));
  train_ = Eigen::Map<const Eigen::MatrixXf>(train.features.data(), train.feature_dim, train.num_samples);
  scale_.resize(train.num_samples);
  probabilities_.resize(train.num_outputs, train.num_samples);
  ForEachRowInParallel(train.num_samples, [&](int64_t row) {
    scale_[row] = Scale(FeaturesOf(train, row));
    probabilities_.col(row) = ProbabilitiesOf(train, row);
  });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Relation::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, train_.rows(), "relation"));
  OPENSET_RETURN_IF_ERROR(CheckLogitsLikeFitted(input, probabilities_.rows(), "relation"));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        Eigen::MatrixXd probabilities = Eigen::MatrixXd::Zero(probabilities_.rows(), kRowBlock);
        for (int64_t j = 0; j < count; ++j) {
          block->col(j) *= Scale(block->col(j));
          probabilities.col(j) = ProbabilitiesOf(input, first + j);
        }
        std::vector<double> sums(count, 0);
        for (int64_t begin = 0; begin < train_.cols(); begin += kChunk) {
          const int64_t size = std::min(kChunk, train_.cols() - begin);
          const Eigen::MatrixXd features =
              train_.middleCols(begin, size).cast<double>() * scale_.segment(begin, size).asDiagonal();
          const Eigen::MatrixXd cosines = features.transpose() * *block;
          const Eigen::MatrixXd agreement = probabilities_.middleCols(begin, size).transpose() * probabilities;
          for (int64_t j = 0; j < count; ++j) {
            for (int64_t i = 0; i < size; ++i) {
              const double relation = std::max(cosines(i, j), 0.0) * agreement(i, j);
              if (relation > threshold_) sums[j] += power_ == 1 ? relation : std::pow(relation, power_);
            }
          }
        }
        for (int64_t j = 0; j < count; ++j) scores[first + j] = -sums[j];
      });
  return scores;
}

}  // namespace openset
