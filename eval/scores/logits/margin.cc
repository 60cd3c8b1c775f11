#include "eval/scores/logits/margin.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> Margin::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits);
    double second = -std::numeric_limits<double>::infinity();
    for (int32_t c = 0; c < logits.size(); ++c) {
      if (c != sum.argmax) second = std::max<double>(second, logits[c]);
    }
    return std::expm1(second - sum.max) / (1 + sum.rest);
  });
}

}  // namespace openset
