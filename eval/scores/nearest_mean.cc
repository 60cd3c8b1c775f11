// The squared distance to the nearest class mean, the outlier score of the II loss (Hassen and Chan 2020).
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// min_c |x - m_c|^2 >= 0 for features x [D], m_c the mean of the training samples of class c.
class NearestMean : public Score {
 public:
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  int64_t feature_dim_ = 0;
  std::vector<Eigen::VectorXd> mean_;  // of the classes that have one
};

absl::Status NearestMean::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  mean_.clear();
  for (Eigen::VectorXd& mean : ClassMeans(train.features, train.feature_dim, labels, train.num_outputs)) {
    if (mean.size() > 0) mean_.push_back(std::move(mean));
  }
  feature_dim_ = train.feature_dim;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> NearestMean::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, feature_dim_, "nearest_mean"));
  std::vector<double> scores(input.num_samples, std::numeric_limits<double>::infinity());
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const Eigen::VectorXd x = FeaturesOf(input, row);
    for (const Eigen::VectorXd& mean : mean_) scores[row] = std::min(scores[row], (x - mean).squaredNorm());
  });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const NearestMeanSpec&) { return std::make_unique<NearestMean>(); }

}  // namespace openset
