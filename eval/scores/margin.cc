// Margin between the two most probable classes.
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

// p_2 - p_1 for the largest p_1 and the second largest p_2 of softmax(z), in [-1, 0]; -1 for one class.
class Margin : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

absl::StatusOr<std::vector<double>> Margin::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits);
    double second = -std::numeric_limits<double>::infinity();
    for (int32_t c = 0; c < logits.size(); ++c) {
      if (c != sum.argmax) second = std::max<double>(second, logits[c]);
    }
    return std::expm1(second - sum.max) / (1 + sum.rest);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const MarginSpec&) { return std::make_unique<Margin>(); }

}  // namespace openset
