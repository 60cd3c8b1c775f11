// The disagreement of several passes: with dropout, or through each model of an ensemble.
#ifndef OPENSET_EVAL_SCORES_LOGITS_MEMBER_UNCERTAINTY_H_
#define OPENSET_EVAL_SCORES_LOGITS_MEMBER_UNCERTAINTY_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// A column of ScoreInput.member_uncertainty, which inference computes from the passes m = 1 .. M with probabilities p_m
// and their mean p (experiments/infer/make_predictor.h).
class MemberUncertainty : public Score {
 public:
  enum class Value {
    kMutualInformation,  // H(p) - 1/M sum_m H(p_m) >= 0, in nats (BALD: Houlsby et al. 2011; Gal 2016)
    kExpectedEntropy,    // 1/M sum_m H(p_m) >= 0, in nats
    kVariationRatio,     // 1 - (passes that predict the class that most of them predict) / M, in [0, 1 - 1/M]
  };
  explicit MemberUncertainty(Value value) : value_(value) {}

  // Errors: kInvalidArgument for outputs without the array, of a wrong shape, or with values that are not finite, with
  // the row.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Value value_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_MEMBER_UNCERTAINTY_H_
