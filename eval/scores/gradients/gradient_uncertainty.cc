#include "eval/scores/gradients/gradient_uncertainty.h"

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

absl::StatusOr<std::vector<double>> GradientUncertainty::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const absl::Span<const float> logits = LogitsOf(input, row);
    double sum = 0;
    for (const double p : Softmax(logits)) {
      const double slope = static_cast<double>(logits.size()) * p - 1;
      sum += slope * slope;
    }
    scores[row] = -sum * (FeaturesOf(input, row).squaredNorm() + (bias_ ? 1 : 0));
  });
  return scores;
}

}  // namespace openset
