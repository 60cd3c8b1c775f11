// Maximum softmax probability of scaled logits (Guo et al. 2017; ODIN without perturbation).
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -max_c softmax(z / T)_c, in [-1, -1/K].
class TemperatureScaledSoftmax : public Score {
 public:
  // If there is no temperature, it is fitted.
  explicit TemperatureScaledSoftmax(const TemperatureScaledSoftmaxSpec& spec) : fit_(!spec.has_temperature()) {
    if (spec.has_temperature()) temperature_ = spec.temperature();
  }

  // Finds the T with the least mean -ln softmax(z / T)_y within [0.01, 100]; an end if there is no minimum. Use
  // held-out samples: on the model's own training samples, T is too low. Does nothing if T is given.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

  // z / T.
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

 private:
  std::optional<double> temperature_;
  bool fit_;
};

// Slope and curvature of the mean of -ln softmax(b z)_y in b = 1 / T, which is convex: mean of (E z - z_y) and Var z.
struct Slope {
  double first = 0;
  double second = 0;
};

Slope SlopeAt(double b, const ScoreInput& train, absl::Span<const int32_t> labels) {
  std::vector<Slope> of_row(train.num_samples);
  ForEachRowInParallel(train.num_samples, [&](int64_t row) {
    const absl::Span<const float> logits = train.logits.subspan(row * train.num_outputs, train.num_outputs);
    const double max = logits[ArgMax(logits)];
    double weight = 0, mean = 0, square = 0;
    for (const float logit : logits) {
      const double d = logit - max;
      const double e = std::exp(b * d);
      if (e == 0) continue;
      weight += e;
      mean += e * d;
      square += e * d * d;
    }
    mean /= weight;
    of_row[row] = {mean - (logits[labels[row]] - max), square / weight - mean * mean};
  });
  Slope slope;
  for (const Slope& one : of_row) {
    slope.first += one.first;
    slope.second += one.second;
  }
  slope.first /= train.num_samples;
  slope.second /= train.num_samples;
  return slope;
}

absl::Status TemperatureScaledSoftmax::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  if (!fit_) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  // Newton's method on the slope, kept within a bracket by bisection.
  double low = 0.01;
  double high = 100;
  double b = 1;
  for (int step = 0; step < 200 && high - low > 1e-15 * high; ++step) {
    const Slope slope = SlopeAt(b, train, labels);
    if (slope.first == 0) break;
    (slope.first < 0 ? low : high) = b;
    const double next = b - slope.first / slope.second;
    const double last = b;
    b = next > low && next < high ? next : (low + high) / 2;
    if (std::abs(b - last) < 1e-15 * b) break;
  }
  temperature_ = 1 / b;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> TemperatureScaledSoftmax::Compute(const ScoreInput& input) const {
  if (!temperature_.has_value()) {
    return absl::FailedPreconditionError("temperature_scaled_softmax has no temperature: it must be fitted first");
  }
  return ScoreLogitRows(
      input, [this](absl::Span<const float> logits) { return -1 / (1 + SumSoftmax(logits, *temperature_).rest); });
}

absl::StatusOr<std::optional<ProbabilityLogits>> TemperatureScaledSoftmax::Probabilities(
    const ScoreInput& input) const {
  if (!temperature_.has_value()) {
    return absl::FailedPreconditionError("temperature_scaled_softmax has no temperature: it must be fitted first");
  }
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  ProbabilityLogits scaled{{input.logits.begin(), input.logits.end()}, input.num_outputs};
  for (float& logit : scaled.logits) logit = static_cast<float>(logit / *temperature_);
  return scaled;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const TemperatureScaledSoftmaxSpec& spec) {
  return std::make_unique<TemperatureScaledSoftmax>(spec);
}

}  // namespace openset
