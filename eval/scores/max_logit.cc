// Maximum logit (Hendrycks et al. 2022; Vaze et al. 2022).
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -max_c z_c. Unlike softmax scores it depends on a constant added to all logits.
class MaxLogit : public Score {
 public:
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;
};

absl::StatusOr<std::vector<double>> MaxLogit::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [](absl::Span<const float> logits) -> double { return -logits[ArgMax(logits)]; });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const MaxLogitSpec&) { return std::make_unique<MaxLogit>(); }

}  // namespace openset
