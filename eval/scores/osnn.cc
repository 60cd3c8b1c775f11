// Open-set nearest neighbours by distance ratio (OSNN, Mendes Júnior et al. 2017).
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// |x - t| / |x - u| in [0, 1] for features x [D], their nearest training sample t, and u the nearest one whose label is
// not t's. 1 if x equals both. The paper rejects a sample above a threshold between 0 and 1, and otherwise predicts the
// label of t; here the prediction stays the network's. Exhaustive: N * (training samples) * D multiplications.
class Osnn : public Score {
 public:
  // Errors: also kInvalidArgument if all samples have one label.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Eigen::MatrixXd train_;   // [D, training samples]
  Eigen::VectorXd square_;  // of their lengths
  std::vector<int32_t> label_;
};

absl::Status Osnn::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  label_.assign(labels.begin(), labels.end());
  bool has_two = false;
  for (const int32_t label : label_) has_two |= label != label_[0];
  if (!has_two) return absl::InvalidArgumentError("osnn compares classes: all its training samples are of one");
  train_ =
      Eigen::Map<const Eigen::MatrixXf>(train.features.data(), train.feature_dim, train.num_samples).cast<double>();
  square_ = train_.colwise().squaredNorm();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Osnn::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, train_.rows(), "osnn"));
  std::vector<double> scores(input.num_samples);
  const auto score = [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
    // |x - t|^2 - |x|^2 finds the samples; their distances are computed from the differences.
    const Eigen::MatrixXd order = (-2 * train_.transpose() * *block).colwise() + square_;
    for (int64_t i = 0; i < count; ++i) {
      Eigen::Index nearest = 0;
      order.col(i).minCoeff(&nearest);
      Eigen::Index other = -1;
      double least = std::numeric_limits<double>::infinity();
      for (Eigen::Index t = 0; t < train_.cols(); ++t) {
        if (label_[t] == label_[nearest] || order(t, i) >= least) continue;
        least = order(t, i);
        other = t;
      }
      const double near = (block->col(i) - train_.col(nearest)).norm(),
                   far = (block->col(i) - train_.col(other)).norm();
      scores[first + i] = far > 0 ? std::min(near / far, 1.0) : 1;
    }
  };
  ForEachRowBlockInParallel(input.features, input.feature_dim, score);
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const OsnnSpec&) { return std::make_unique<Osnn>(); }

}  // namespace openset
