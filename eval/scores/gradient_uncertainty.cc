// Gradients as a measure of uncertainty (Lee and AlRegib 2020), of the last layer.
#include <memory>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -|dL/dW|^2 - |dL/db|^2 <= 0 of L = -sum_c log p_c, p = softmax(W x + b) [K]: the binary cross entropy of p with a
// label of ones. In closed form: -|K p - 1|^2 (|x|^2 + 1) for features x [D]; without bias, |x|^2 instead of |x|^2 + 1.
// The sign is negative because a confident prediction has a long gradient; pytorch-ood uses the same sign. The paper
// instead passes the squared lengths of all layers to a network that is trained on known and unknown samples. Doesn't
// change if a constant is added to all logits.
class GradientUncertainty : public Score {
 public:
  explicit GradientUncertainty(bool bias) : bias_(bias) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  bool bias_;
};

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GradientUncertaintySpec& spec) {
  return std::make_unique<GradientUncertainty>(spec.bias());
}

}  // namespace openset
