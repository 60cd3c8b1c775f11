// A Gaussian mixture with a component for each class (Mukhoti et al. 2023).
#ifndef OPENSET_EVAL_SCORES_FEATURES_GMM_H_
#define OPENSET_EVAL_SCORES_FEATURES_GMM_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// -log sum_c w_c N(x; m_c, S_c + ridge I), in nats, for features x [D]: w_c is the share of class c among
// the training samples, m_c and S_c = (1/n) sum_i (x_i - m_c) (x_i - m_c)^T mean and covariance of its features.
// OpenOOD's gmm differs: a mixture with one covariance, found by EM from random centres.
class Gmm : public Score {
 public:
  // Precondition: ridge >= 0.
  explicit Gmm(double ridge) : ridge_(ridge) {}

  // Errors, beyond those of CheckFitInput and CheckFeatures: kInvalidArgument, with the class, if S_c + ridge I is
  // not positive definite; for more classes and features than fit in memory.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct Component {
    Eigen::VectorXd mean;       // [D]
    Eigen::MatrixXd whitening;  // [D, D]
    double log_factor = 0;      // log w_c - log det(S_c + ridge I) / 2 - D log(2 pi) / 2
  };
  double ridge_;
  int64_t feature_dim_ = 0;
  std::vector<Component> components_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_GMM_H_
