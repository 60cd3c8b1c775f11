// Entropy of the predicted distribution.
#include <cmath>
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -sum_c p_c ln p_c with p = softmax(z), in nats, in [0, ln K]; 0 ln 0 = 0.
class Entropy : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

absl::StatusOr<std::vector<double>> Entropy::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    // With d_c = z_c - max z and S = sum exp(d_c): ln S - sum d_c exp(d_c) / S.
    const SoftmaxSum sum = SumSoftmax(logits);
    double weighted = 0;
    for (const float logit : logits) {
      const double d = logit - sum.max;
      if (const double e = std::exp(d); e > 0) weighted += d * e;
    }
    return std::log1p(sum.rest) - weighted / (1 + sum.rest);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const EntropySpec&) { return std::make_unique<Entropy>(); }

}  // namespace openset
