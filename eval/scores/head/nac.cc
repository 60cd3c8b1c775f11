#include "eval/scores/head/nac.h"

#include <cmath>
#include <mutex>

#include "core/status_macros.h"
#include "eval/scores/head/nac_counts.h"
#include "eval/scores/input.h"

namespace openset {
void Nac::ToIntervals(const LinearHead& head, Eigen::MatrixXd* block) const {
  Eigen::MatrixXd difference = (head.weight * *block).colwise() + head.bias;  // softmax(z) - 1/K
  for (int64_t j = 0; j < difference.cols(); ++j) {
    const double max = difference.col(j).maxCoeff();
    Eigen::VectorXd p = (difference.col(j).array() - max).exp();
    p /= p.sum();
    difference.col(j) = p.array() - 1.0 / static_cast<double>(p.size());
  }
  const Eigen::MatrixXd gradient = head.weight.transpose() * difference;
  for (int64_t j = 0; j < block->cols(); ++j) {
    for (int64_t d = 0; d < block->rows(); ++d) {
      const double state = 1 / (1 + std::exp(-options_.steepness * (*block)(d, j) * gradient(d, j)));
      (*block)(d, j) = static_cast<double>(NacInterval(thresholds_, state));
    }
  }
}

absl::Status Nac::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  thresholds_ = NacThresholds(options_.thresholds);
  const std::vector<bool> counted = NacCountedRows(labels, train.num_outputs, options_.samples);
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(train.feature_dim, static_cast<int64_t>(thresholds_.size()) - 1);
  std::mutex mutex;
  // Counts are whole numbers: their sum does not depend on the order.
  ForEachRowBlockInParallel(train.features, train.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              ToIntervals(head, block);
                              const std::lock_guard<std::mutex> lock(mutex);
                              for (int64_t j = 0; j < count; ++j) {
                                if (!counted[first + j]) continue;
                                for (int64_t d = 0; d < block->rows(); ++d)
                                  counts(d, static_cast<int64_t>((*block)(d, j))) += 1;
                              }
                            });
  counts_ = counts.cwiseMin(options_.full);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Nac::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, counts_.rows(), "nac"));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              ToIntervals(head, block);
                              for (int64_t j = 0; j < count; ++j) {
                                double sum = 0;  // exact if `full` is an integer
                                for (int64_t d = 0; d < block->rows(); ++d)
                                  sum += counts_(d, static_cast<int64_t>((*block)(d, j)));
                                scores[first + j] = -sum / (options_.full * static_cast<double>(block->rows()));
                              }
                            });
  return scores;
}

}  // namespace openset
