// NAC, neuron activation coverage (Liu et al. 2024), of the last features.
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/nac_counts.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// Minus the mean over features d of min(n_d(a_d) / full, 1), in [-1, 0]. a_d = 1 / (1 + exp(-steepness x_d g_d)) is the
// activation state of feature x_d, with g [D] = W^T (softmax(z) - 1/K) the gradient of the divergence from uniform
// probabilities, for the head z = W x + b; n_d(a) counts the training samples whose state lies in the interval of a.
// The counts are summed and divided once, so that samples with the same coverage have bitwise equal scores.
//
// The intervals [t_i, t_i+1) are shorter near 1/2: with h = thresholds / 2 (rounded down) and points u_i from 1 to
// sqrt(1000), h of them equally spaced, the thresholds are log_1000 u_i for all but the last, then 1 - log_1000 u_i in
// the opposite order, the last of them 0.01 larger, then 1.2.
//
// As in the authors' code for the layer avgpool alone; for other layers, see nac_stages (nac_stages.cc).
class Nac : public Score {
 public:
  explicit Nac(const NacSpec& spec) : spec_(spec) {}

  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  // Replaces the block by the interval of each sample's states.
  void ToIntervals(const LinearHead& head, Eigen::MatrixXd* block) const;

  const NacSpec spec_;
  std::vector<double> thresholds_;
  Eigen::MatrixXd counts_;  // [D, intervals], min(n_d, full)
};

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
      const double state = 1 / (1 + std::exp(-spec_.steepness() * (*block)(d, j) * gradient(d, j)));
      (*block)(d, j) = static_cast<double>(NacInterval(thresholds_, state));
    }
  }
}

absl::Status Nac::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  thresholds_ = NacThresholds(spec_.thresholds());
  const std::vector<bool> counted = NacCountedRows(labels, train.num_outputs, spec_.samples());
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
  counts_ = counts.cwiseMin(spec_.full());
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
                                scores[first + j] = -sum / (spec_.full() * static_cast<double>(block->rows()));
                              }
                            });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const NacSpec& spec) { return std::make_unique<Nac>(spec); }

}  // namespace openset
