// Scores from an extra output for the unknown.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// softmax(z)_K, K the last output, in [0, 1]; or z_K - max_{c < K} z_c, which is infinite for one output; or -z_K or
// z_K; or -max_{c < K} softmax(z_1 .. z_{K-1})_c: for models trained with unknown samples as one more class (Noise and
// Overlay Softmax of the class-imbalance paper, which reject a sample if the last output is the largest), or whose
// extra output is a confidence (DeVries and Taylor 2018) or a variance (Shang et al. 2023), or is left out in the test
// (Zhu et al. 2023).
class ExtraOutput : public Score {
 public:
  explicit ExtraOutput(const ExtraOutputSpec& spec) : value_(spec.value()) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  ExtraOutputSpec::Value value_;
};

absl::StatusOr<std::vector<double>> ExtraOutput::Compute(const ScoreInput& input) const {
  if (value_ == ExtraOutputSpec::NEGATED) {
    return ScoreLogitRows(input, [](absl::Span<const float> logits) -> double { return -logits.back(); });
  }
  if (value_ == ExtraOutputSpec::PLAIN) {
    return ScoreLogitRows(input, [](absl::Span<const float> logits) -> double { return logits.back(); });
  }
  if (value_ == ExtraOutputSpec::MARGIN) {
    return ScoreLogitRows(input, [](absl::Span<const float> logits) {
      double largest = -std::numeric_limits<double>::infinity();
      for (const float logit : logits.first(logits.size() - 1)) largest = std::max<double>(largest, logit);
      return logits.back() - largest;
    });
  }
  if (value_ == ExtraOutputSpec::MAX_SOFTMAX_OF_OTHERS) {
    if (input.num_outputs < 2) return absl::InvalidArgumentError("one output has no others: max_softmax_of_others");
    return ScoreLogitRows(input, [](absl::Span<const float> logits) {
      return -1 / (1 + SumSoftmax(logits.first(logits.size() - 1)).rest);
    });
  }
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits);
    return std::exp(logits.back() - sum.max) / (1 + sum.rest);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const ExtraOutputSpec& spec) { return std::make_unique<ExtraOutput>(spec); }

}  // namespace openset
