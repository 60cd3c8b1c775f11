#include "eval/scores/logits/entropy.h"

#include <cmath>

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> Entropy::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    // With d_c = z_c - max z and S = sum exp(d_c): ln S - sum d_c exp(d_c) / S.
    const SoftmaxSum sum = SumSoftmax(logits);
    double weighted = 0;
    for (const float logit : logits) {
      const double d = logit - sum.max;
      if (const double e = std::exp(d); e > 0) weighted += d * e;
    }
    return std::log1p(sum.rest) - weighted / (1 + sum.rest);
  });
}

}  // namespace openset
