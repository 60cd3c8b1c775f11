#include "eval/scores/logits/min_misclassification.h"

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> MinMisclassification::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    const double rest = SumSoftmax(logits).rest;
    return rest / (1 + rest);
  });
}

}  // namespace openset
