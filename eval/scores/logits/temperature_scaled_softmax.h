// Maximum softmax probability of scaled logits (Guo et al. 2017; ODIN without perturbation).
#ifndef OPENSET_EVAL_SCORES_LOGITS_TEMPERATURE_SCALED_SOFTMAX_H_
#define OPENSET_EVAL_SCORES_LOGITS_TEMPERATURE_SCALED_SOFTMAX_H_

#include <optional>
#include <vector>

#include "eval/scores/score.h"

namespace openset {

// -max_c softmax(z / T)_c, in [-1, -1/K].
class TemperatureScaledSoftmax : public Score {
 public:
  // If there is no temperature, it is fitted. Precondition: temperature > 0.
  explicit TemperatureScaledSoftmax(std::optional<double> temperature)
      : temperature_(temperature), fit_(!temperature) {}

  // Finds the T with the least mean -ln softmax(z / T)_y within [0.01, 100]; an end if there is no minimum. Use
  // held-out samples: on the model's own training samples, T is too low. Does nothing if T is given.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

  // z / T.
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

  std::optional<double> temperature() const { return temperature_; }

 private:
  std::optional<double> temperature_;
  bool fit_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_TEMPERATURE_SCALED_SOFTMAX_H_
