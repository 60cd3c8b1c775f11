#include "eval/scores/logits/energy.h"

#include <cmath>

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> Energy::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits, temperature_);
    return -(sum.max + temperature_ * std::log1p(sum.rest));
  });
}

}  // namespace openset
