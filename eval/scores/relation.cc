// Neural relation graph: relations to all training samples (Kim et al. 2023).
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -sum_i r_i^power over the training samples with a relation r_i = max(0, u . u_i) (p . p_i) above `threshold`, with
// p = softmax(z) of the logits z [K] and u = x / sqrt(|x|^2 + 1e-10) of the features x [D]. (OpenOOD returns the
// negative, a confidence; the authors' code 1 / (sum + 1e-6): the same order.) Exhaustive: N * (training samples) *
// (D + K) multiplications, in double.
class Relation : public Score {
 public:
  explicit Relation(const RelationSpec& spec) : power_(spec.power()), threshold_(spec.threshold()) {}

  // Ignores labels.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double power_;
  double threshold_;
  Eigen::MatrixXf train_;          // [D, training samples]
  Eigen::VectorXd scale_;          // of a column: 1 / sqrt(|x|^2 + 1e-10)
  Eigen::MatrixXd probabilities_;  // [K, training samples]
};

constexpr int64_t kRelationsAtOnce = 512;  // training samples in a product

double InverseLength(const Eigen::VectorXd& x) { return 1 / std::sqrt(x.squaredNorm() + 1e-10); }

Eigen::VectorXd ProbabilitiesOf(const ScoreInput& input, int64_t row) {
  const std::vector<double> p = Softmax(LogitsOf(input, row));
  return Eigen::Map<const Eigen::VectorXd>(p.data(), static_cast<int64_t>(p.size()));
}

absl::Status Relation::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_RETURN_IF_ERROR(CheckLogits(train));
  train_ = Eigen::Map<const Eigen::MatrixXf>(train.features.data(), train.feature_dim, train.num_samples);
  scale_.resize(train.num_samples);
  probabilities_.resize(train.num_outputs, train.num_samples);
  ForEachRowInParallel(train.num_samples, [&](int64_t row) {
    scale_[row] = InverseLength(FeaturesOf(train, row));
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
          block->col(j) *= InverseLength(block->col(j));
          probabilities.col(j) = ProbabilitiesOf(input, first + j);
        }
        std::vector<double> sums(count, 0);
        for (int64_t begin = 0; begin < train_.cols(); begin += kRelationsAtOnce) {
          const int64_t size = std::min(kRelationsAtOnce, train_.cols() - begin);
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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const RelationSpec& spec) { return std::make_unique<Relation>(spec); }

}  // namespace openset
