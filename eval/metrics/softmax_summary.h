// A summary of each sample's softmax(logits) for the calibration metrics, computed once for all replicates and groups.
#ifndef OPENSET_EVAL_METRICS_SOFTMAX_SUMMARY_H_
#define OPENSET_EVAL_METRICS_SOFTMAX_SUMMARY_H_

#include <mutex>
#include <vector>

#include "eval/metrics/evaluation_input.h"

namespace openset {

// The summary of one sample, with p = softmax(z).
struct SoftmaxValues {
  double nll = 0;         // -ln p_y, inf where the logit is -inf; 0 for unknown samples
  double brier = 0;       // sum over c of (p_c - 1[c = y])^2; 0 for unknown samples
  double confidence = 0;  // p of the predicted class
};

// Computed at the first call of Values(), which may come from any thread.
class SoftmaxSummary {
 public:
  // Precondition: the input has logits.
  explicit SoftmaxSummary(const EvaluationInput& input) : input_(input) {}

  // [N]
  const std::vector<SoftmaxValues>& Values() const;

 private:
  EvaluationInput input_;
  mutable std::once_flag once_;
  mutable std::vector<SoftmaxValues> values_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_SOFTMAX_SUMMARY_H_
