// Maximum softmax probability (Hendrycks and Gimpel 2017).
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -max_c softmax(z)_c, in [-1, -1/K]. If the other classes' share is below 1.1e-16, it is -1 and such samples tie;
// MinMisclassification distinguishes them.
class MaxSoftmax : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

absl::StatusOr<std::vector<double>> MaxSoftmax::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) { return -1 / (1 + SumSoftmax(logits).rest); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const MaxSoftmaxSpec&) { return std::make_unique<MaxSoftmax>(); }

}  // namespace openset
