#include "eval/scores/logits/max_logit.h"

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> MaxLogit::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) -> double { return -logits[ArgMax(logits)]; });
}

}  // namespace openset
