// Scores from an extra output for the unknown.
#ifndef OPENSET_EVAL_SCORES_LOGITS_EXTRA_OUTPUT_H_
#define OPENSET_EVAL_SCORES_LOGITS_EXTRA_OUTPUT_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// softmax(z)_K, K the last output, in [0, 1]; or z_K - max_{c < K} z_c, which is infinite for one output; or -z_K or
// z_K: for models trained with unknown samples as one more class (Noise and Overlay Softmax of the class-imbalance
// paper, which reject a sample if the last output is the largest), or whose extra output is a confidence (DeVries and
// Taylor 2018) or a variance (Shang et al. 2023).
class ExtraOutput : public Score {
 public:
  enum class Value { kProbability, kMargin, kNegated, kPlain };
  explicit ExtraOutput(Value value = Value::kProbability) : value_(value) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Value value_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_EXTRA_OUTPUT_H_
