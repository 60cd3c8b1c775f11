// SSD's Mahalanobis distance (Sehwag et al. 2021).
#ifndef OPENSET_EVAL_SCORES_FEATURES_SSD_H_
#define OPENSET_EVAL_SCORES_FEATURES_SSD_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// min_k (u - m_k)^T S_k^+ (u - m_k) >= 0 for features x [D] and u = (x / |x| - m) / s, where m and s [D] are mean and
// standard deviation of x / |x| over all training samples, and m_k and S_k mean and covariance of u over those of
// cluster k. Features with s = 0 and directions without variance are ignored. All training samples form one cluster, or
// each class forms one.
class Ssd : public Score {
 public:
  enum class Clusters {
    kOne,
    kClasses,
  };
  explicit Ssd(Clusters clusters) : clusters_(clusters) {}

  // Ignores labels if there is one cluster. Errors, beyond those of CheckFitInput (for classes) and CheckFeatures:
  // kInvalidArgument, with the class, for features without variance, and for more classes and features than fit in
  // memory.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct Cluster {
    Eigen::VectorXd mean;       // [D], of x / |x|
    Eigen::MatrixXd whitening;  // [r, D]
  };
  Clusters clusters_;
  int64_t feature_dim_ = 0;
  std::vector<Cluster> fitted_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_SSD_H_
