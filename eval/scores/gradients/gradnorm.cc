#include "eval/scores/gradients/gradnorm.h"

#include <cmath>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

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

}  // namespace openset
