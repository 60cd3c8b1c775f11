// WEBO: energy with a weight for each class (VOS, Du et al. 2022).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c max(w_c, 0) exp(z_c) for logits z [K], in their units. Infinite if all logits with a positive weight are
// -inf.
class WeightedEnergy : public Score {
 public:
  explicit WeightedEnergy(const WeightedEnergySpec& spec) : weight_(spec.weight().begin(), spec.weight().end()) {}

  // Errors, in addition: kInvalidArgument if the number of weights and logits differ, or no weight is above 0.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  const std::vector<double> weight_;  // [K]; empty: 1 for each, so that it is the energy
};

absl::StatusOr<std::vector<double>> WeightedEnergy::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  const std::vector<double> weight = weight_.empty() ? std::vector<double>(input.num_outputs, 1) : weight_;
  if (static_cast<int64_t>(weight.size()) != input.num_outputs) {
    return absl::InvalidArgumentError(absl::StrCat("weighted_energy has ", weight.size(), " weights; the outputs have ",
                                                   input.num_outputs, " logits: give one for each"));
  }
  if (*std::max_element(weight.begin(), weight.end()) <= 0) {
    return absl::InvalidArgumentError("weighted_energy: no weight is above 0");
  }
  return ScoreLogitRows(input, [&weight](absl::Span<const float> logits) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double max = -kInfinity;
    for (size_t c = 0; c < weight.size(); ++c) {
      if (weight[c] > 0) max = std::max<double>(max, logits[c]);
    }
    if (max == -kInfinity) return kInfinity;
    double sum = 0;
    for (size_t c = 0; c < weight.size(); ++c) {
      if (weight[c] > 0) sum += weight[c] * std::exp(logits[c] - max);
    }
    return -max - std::log(sum);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const WeightedEnergySpec& spec) {
  return std::make_unique<WeightedEnergy>(spec);
}

}  // namespace openset
