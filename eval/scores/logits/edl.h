// Scores of evidential deep learning (Sensoy et al. 2018).
#ifndef OPENSET_EVAL_SCORES_LOGITS_EDL_H_
#define OPENSET_EVAL_SCORES_LOGITS_EDL_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// The function from a logit to evidence, which is not negative.
enum class Evidence {
  kExp,       // exp(z), z clipped to [-10, 10]
  kRelu,      // max(z, 0)
  kSoftplus,  // log(1 + exp(z))
};

// The score, from the Dirichlet distribution with alpha_c = evidence(z_c) + 1 and S = sum_c alpha_c.
class EdlVacuity : public Score {
 public:
  explicit EdlVacuity(Evidence evidence) : evidence_(evidence) {}
  // K / S, in (0, 1].
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
  // ln alpha_c: the expected probabilities alpha_c / S.
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

 private:
  Evidence evidence_;
};

class EdlProbability : public Score {
 public:
  explicit EdlProbability(Evidence evidence) : evidence_(evidence) {}
  // -max_c alpha_c / S, in (-1, -1/K].
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

 private:
  Evidence evidence_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_EDL_H_
