#include "eval/scores/logits/temperature_scaled_softmax.h"

#include <cmath>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {
namespace {

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

}  // namespace

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

}  // namespace openset
