// Free energy (Liu et al. 2020).
#include <cmath>
#include <memory>
#include <vector>

#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -T log sum_c exp(z_c / T), in units of the logits. Depends on a constant added to all logits; close to -max_c z_c for
// small T.
class Energy : public Score {
 public:
  // Precondition: temperature > 0.
  explicit Energy(double temperature) : temperature_(temperature) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double temperature_;
};

absl::StatusOr<std::vector<double>> Energy::Compute(const ScoreInput& input) const {
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    const SoftmaxSum sum = SumSoftmax(logits, temperature_);
    return -(sum.max + temperature_ * std::log1p(sum.rest));
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const EnergySpec& spec) {
  return std::make_unique<Energy>(spec.temperature());
}

}  // namespace openset
