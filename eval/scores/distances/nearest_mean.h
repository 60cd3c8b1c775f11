// The squared distance to the nearest class mean, the outlier score of the II loss (Hassen and Chan 2020).
#ifndef OPENSET_EVAL_SCORES_DISTANCES_NEAREST_MEAN_H_
#define OPENSET_EVAL_SCORES_DISTANCES_NEAREST_MEAN_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// min_c |x - m_c|^2 >= 0 for features x [D], m_c the mean of the training samples of class c.
class NearestMean : public Score {
 public:
  // Errors: those of CheckFitInput and CheckFeatures.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  int64_t feature_dim_ = 0;
  std::vector<Eigen::VectorXd> mean_;  // of the classes that have one
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_DISTANCES_NEAREST_MEAN_H_
