// KL matching (Hendrycks et al. 2022).
#ifndef OPENSET_EVAL_SCORES_LOGITS_KLM_H_
#define OPENSET_EVAL_SCORES_LOGITS_KLM_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// min_k sum_c p_c log(p_c / d_kc) >= 0, in nats, for p = softmax(z) and d_k the mean p of the training samples whose
// largest logit is that of k; classes without such samples are ignored (in OpenOOD, they get the one-hot distribution
// of k, from which any other is infinitely far). Doesn't change if a constant is added to all logits.
class Klm : public Score {
 public:
  // Ignores labels. Errors: those of CheckLogits; kInvalidArgument if there are no samples or a logit is infinite,
  // with the row.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Eigen::MatrixXd log_mean_;  // [K, classes that are predicted]
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_KLM_H_
