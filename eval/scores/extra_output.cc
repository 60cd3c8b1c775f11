#include "eval/scores/extra_output.h"

#include <cmath>

#include "eval/scores/score_rows.h"
#include "eval/scores/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> ExtraOutput::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits);
    return std::exp(logits.back() - sum.max) / (1 + sum.rest);
  });
}

}  // namespace openset
