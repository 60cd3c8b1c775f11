// ASH: energy after the smaller features are pruned (Djurisic et al. 2023).
#ifndef OPENSET_EVAL_SCORES_SHAPING_ASH_H_
#define OPENSET_EVAL_SCORES_SHAPING_ASH_H_

#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -log sum_c exp(z_c) of z = W s(x) + b, for features x [D] and the head W [K, D], b [K] of the outputs, in units of
// the logits. s keeps the n = D - round(D percentile / 100) largest features (at least one; the first ones of equal
// values) and sets the others to 0; then
//   P leaves the kept features unchanged,
//   B gives each the sum of all features of x over n,
//   S multiplies them by exp(sum of all features of x / sum of those kept).
// Intended for features >= 0. With percentile 0, P is the energy.
class Ash : public Score {
 public:
  enum class Variant { kP, kB, kS };
  // Precondition: 0 <= percentile <= 100.
  Ash(Variant variant, double percentile) : variant_(variant), percentile_(percentile) {}

  // Errors: kInvalidArgument, with the row, for S if the kept features add up to less than 0, or to 0 while all
  // features don't, and if exp overflows.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Variant variant_;
  double percentile_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_SHAPING_ASH_H_
