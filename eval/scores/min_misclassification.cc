// The least probability of being wrong (OpenAUC, Definition 1).
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// min_c P(y != c) = 1 - max_c softmax(z)_c, in [0, 1 - 1/K], computed as the sum over the other classes: it ranks
// like -max softmax in exact arithmetic and distinguishes samples whose largest probability rounds to 1.
class MinMisclassification : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

absl::StatusOr<std::vector<double>> MinMisclassification::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    const double rest = SumSoftmax(logits).rest;
    return rest / (1 + rest);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const MinMisclassificationSpec&) {
  return std::make_unique<MinMisclassification>();
}

}  // namespace openset
