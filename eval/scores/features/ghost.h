// GHOST, the Gaussian hypothesis open-set technique (Rabinowitz et al. 2025).
#ifndef OPENSET_EVAL_SCORES_FEATURES_GHOST_H_
#define OPENSET_EVAL_SCORES_FEATURES_GHOST_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/fits/extreme_values.h"
#include "eval/scores/score.h"
#include "eval/softmax.h"

namespace openset {

// gamma = z_y / s with s = sum_d |x_d - m_yd| / sigma_yd for logits z [K], features x [D] and y the output of the
// largest logit: m_c [D] and sigma_c [D] are mean and standard deviation (divided by n - 1) of the features of the
// correctly classified training samples of class c; features with sigma 0 are ignored. The score is
//   -gamma                  (the paper), or
//   -P_y(gamma) in [-1, 0]  (the released code), P_c the distribution function of the generalised Pareto distribution
//                           of gamma over those samples of class c (generalized_pareto.h), whose search carries the
//                           rounding of a sum over features to about 1e-8.
// If several logits are the largest, `tied` selects the class. An s of 0 counts as 2^-52.
class Ghost : public Score {
 public:
  enum class Value {
    kQuotient,     // -gamma
    kProbability,  // -P_y(gamma)
  };
  explicit Ghost(Value value, TiedLogits tied = TiedLogits::kLeastScore) : value_(value), tied_(tied) {}

  // Outputs that are not the label of any sample are ignored for y.
  // Errors, beyond those of CheckFitInput and CheckFeatures: kInvalidArgument, with the class, for a class of the
  // labels with fewer than two correctly classified samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct ClassModel {
    Eigen::VectorXd mean;     // [D]; empty for outputs without samples
    Eigen::VectorXd inverse;  // [D], 1 / sigma, or 0 if sigma is 0
    GeneralizedPareto quotients;
  };
  static double QuotientOf(const ClassModel& model, const Eigen::VectorXd& x, double logit);

  Value value_;
  TiedLogits tied_;
  std::vector<ClassModel> classes_;  // [K]
  int64_t feature_dim_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FEATURES_GHOST_H_
