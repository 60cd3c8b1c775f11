#include "eval/scores/logits/gen.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> Gen::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits);
    const double log_sum = std::log1p(sum.rest);
    std::vector<float> largest(logits.begin(), logits.end());
    std::iter_swap(largest.begin(), largest.begin() + sum.argmax);
    if (largest.size() > top_) {
      if (top_ > 1) {
        std::nth_element(largest.begin() + 1, largest.begin() + (top_ - 1), largest.end(), std::greater<float>());
      }
      largest.resize(top_);
    }
    // In logarithms: ln p = z - max - log_sum; 1 - p of the largest is rest / (1 + rest).
    double score = std::exp(gamma_ * (std::log(sum.rest) - 2 * log_sum));
    for (size_t i = 1; i < largest.size(); ++i) {
      const double log_p = largest[i] - sum.max - log_sum;
      score += std::exp(gamma_ * (log_p + std::log1p(-std::exp(log_p))));
    }
    return score;
  });
}

}  // namespace openset
