// GradNorm: length of the last layer's gradient (Huang et al. 2021).
#include <cmath>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -|dL/dW|_1 <= 0 of L = -sum_c log p_c, p = softmax(W x + b) [K], with respect to the last layer's weights W: in
// closed form, -sum_c |K p_c - 1| sum_d |x_d| for features x [D]. The released code and OpenOOD return its negative, a
// confidence. It is K times the paper's, whose L is the divergence of p from the uniform distribution. Doesn't change
// if a constant is added to all logits.
class Gradnorm : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

absl::StatusOr<std::vector<double>> Gradnorm::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const absl::Span<const float> logits = LogitsOf(input, row);
    const double k = static_cast<double>(logits.size());
    double sum = 0;
    for (const double p : Softmax(logits)) sum += std::abs(k * p - 1);
    scores[row] = -sum * FeaturesOf(input, row).lpNorm<1>();
  });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GradnormSpec&) { return std::make_unique<Gradnorm>(); }

}  // namespace openset
