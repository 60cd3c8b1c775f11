#include "eval/scores/logits/max_softmax.h"

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> MaxSoftmax::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) { return -1 / (1 + SumSoftmax(logits).rest); });
}

}  // namespace openset
