// GEN: generalised entropy of the softmax probabilities (Liu et al. 2023).
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// sum over the `top` largest p_c = softmax(z)_c of (p_c (1 - p_c))^gamma, in [0, top / 4^gamma]. (The released code
// returns its negative, a confidence.) Doesn't change if a constant is added to all logits.
class Gen : public Score {
 public:
  // Uses all classes if there are fewer than `top`.
  explicit Gen(const GenSpec& spec) : gamma_(spec.gamma()), top_(spec.top()) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double gamma_;
  int64_t top_;
};

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GenSpec& spec) { return std::make_unique<Gen>(spec); }

}  // namespace openset
