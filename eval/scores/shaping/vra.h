// VRA: energy after small and large features are suppressed (Xu et al. 2023).
#ifndef OPENSET_EVAL_SCORES_SHAPING_VRA_H_
#define OPENSET_EVAL_SCORES_SHAPING_VRA_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// -log sum_c exp(z_c) of z = W v(x) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in units of
// the logits. With percentiles l_d and h_d of the training features, v(x)_d is
//   0 (or l_d, if low features are clipped)  for x_d < l_d,
//   h_d                                      for other x_d > h_d,
//   x_d + shift                              for the rest.
class Vra : public Score {
 public:
  struct Options {
    double low_percentile = 60;   // of l
    double high_percentile = 95;  // of h
    double shift = 0;             // above 0: VRA+
    bool per_feature = true;      // l_d and h_d are percentiles of feature d, not of all features
    bool clip_low = false;        // low features become l_d
  };
  // Precondition: percentiles in [0, 100].
  explicit Vra(const Options& options) : options_(options) {}

  // Ignores labels. Errors: those of CheckFeatureFitInput.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Options options_;
  Eigen::VectorXd low_, high_;  // [D]
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_VRA_H_
