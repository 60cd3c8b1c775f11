#include "eval/scores/logits/extra_output.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> ExtraOutput::Compute(const ScoreInput& input) const {
  if (value_ == Value::kNegated) {
    return ScoreLogitRows(input, [](absl::Span<const float> logits) -> double { return -logits.back(); });
  }
  if (value_ == Value::kPlain) {
    return ScoreLogitRows(input, [](absl::Span<const float> logits) -> double { return logits.back(); });
  }
  if (value_ == Value::kMargin) {
    return ScoreLogitRows(input, [](absl::Span<const float> logits) {
      double largest = -std::numeric_limits<double>::infinity();
      for (const float logit : logits.first(logits.size() - 1)) largest = std::max<double>(largest, logit);
      return logits.back() - largest;
    });
  }
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits);
    return std::exp(logits.back() - sum.max) / (1 + sum.rest);
  });
}

}  // namespace openset
