#include "eval/statistics/replicate_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/statistics/distributions.h"

namespace openset {
namespace {

constexpr int kFewBeyond = 10;

// The positions of quantiles, on the scale of a standard normal variable; percentile intervals if both are 0.
struct Correction {
  double bias = 0;
  double acceleration = 0;

  double PlaceOf(double z) const { return bias + (bias + z) / (1 - acceleration * (bias + z)); }
  // z with PlaceOf(z) = place.
  double Inverse(double place) const {
    const double shifted = place - bias;
    const double divisor = 1 + acceleration * shifted;
    return (divisor > 0 ? shifted / divisor : shifted) - bias;
  }
};

Correction CorrectionOf(absl::Span<const double> sorted, double estimate, double acceleration) {
  const auto [lower, upper] = std::equal_range(sorted.begin(), sorted.end(), estimate);
  const double n = static_cast<double>(sorted.size());
  const double below = ((lower - sorted.begin()) + (upper - sorted.begin())) / (2 * n);
  return {NormalQuantile(std::clamp(below, 0.5 / n, 1 - 0.5 / n)), acceleration};
}

// The position q of 0, SortedQuantile(q) = 0, on the normal scale; if there are several, the one nearest to `middle`.
double PlaceOfZero(absl::Span<const double> sorted, double middle) {
  const double steps = static_cast<double>(sorted.size() - 1);
  const auto [lower, upper] = std::equal_range(sorted.begin(), sorted.end(), 0.0);
  const double first = static_cast<double>(lower - sorted.begin());
  if (lower == upper) {
    if (lower == sorted.begin()) return -std::numeric_limits<double>::infinity();
    if (lower == sorted.end()) return std::numeric_limits<double>::infinity();
    const double below = *(lower - 1);
    return NormalQuantile((first - 1 + below / (below - *lower)) / steps);
  }
  if (steps == 0) return middle;
  const double last = static_cast<double>(upper - sorted.begin()) - 1;
  return std::clamp(middle, NormalQuantile(first / steps), NormalQuantile(last / steps));
}

// Mean and standard deviation.
struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments MomentsOf(absl::Span<const double> values) {
  Moments moments;
  double squares = 0;
  for (const double value : values) moments.mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - moments.mean) * (value - moments.mean);
  moments.deviation = std::sqrt(squares / static_cast<double>(values.size()));
  return moments;
}

double PValueOfZero(absl::Span<const double> sorted, const Correction& correction, bool excludes_zero) {
  double place = PlaceOfZero(sorted, correction.PlaceOf(0));
  const int64_t not_above = std::upper_bound(sorted.begin(), sorted.end(), 0.0) - sorted.begin();
  const int64_t not_below = sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), 0.0);
  if (excludes_zero && std::min(not_above, not_below) < kFewBeyond) {
    const auto [mean, deviation] = MomentsOf(sorted);
    const double counted = -NormalQuantile(1 / static_cast<double>(sorted.size() + 1));
    // Replicates that are equal but for rounding have no deviation.
    const double normal = deviation > 1e-12 * std::abs(mean) ? std::abs(mean) / deviation : 0;
    const double size = std::isinf(place) ? std::max(counted, normal) : std::max(std::abs(place), normal);
    place = not_above < not_below ? -size : size;
  }
  return std::min(1.0, 2 * NormalCdf(-std::abs(correction.Inverse(place))));
}

}  // namespace

double SortedQuantile(absl::Span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

ReplicateInterval IntervalOfReplicates(absl::Span<const double> sorted, double estimate, double acceleration,
                                       IntervalMethod method, double confidence, double adjusted_confidence) {
  if (adjusted_confidence == 0) adjusted_confidence = confidence;
  const double z = NormalQuantile((1 - confidence) / 2);
  const double adjusted_z = NormalQuantile((1 - adjusted_confidence) / 2);
  ReplicateInterval interval;
  Correction used;
  const auto set = [&](const Correction& correction) {
    used = correction;
    const auto at = [&](double of) { return SortedQuantile(sorted, NormalCdf(correction.PlaceOf(of))); };
    interval.low = at(z);
    interval.high = at(-z);
    interval.p_value = PValueOfZero(sorted, correction, interval.low > 0 || interval.high < 0);
    interval.adjusted_low = at(adjusted_z);
    interval.adjusted_high = at(-adjusted_z);
  };
  const auto holds_estimate = [&] { return interval.low <= estimate && estimate <= interval.high; };
  set(method == IntervalMethod::kBca ? CorrectionOf(sorted, estimate, acceleration) : Correction());
  if (!holds_estimate() && method == IntervalMethod::kBca) {
    set(Correction());
    interval.note = "BCa leaves out the estimate: percentile interval";
  }
  if (!holds_estimate()) {
    interval.low = std::min(interval.low, estimate);
    interval.high = std::max(interval.high, estimate);
    interval.note = "the replicates lie to one side of the estimate: percentile interval, widened to it";
    if (interval.low <= 0 && interval.high >= 0) interval.p_value = 1;
  }
  interval.adjusted_low = std::min(interval.adjusted_low, interval.low);
  interval.adjusted_high = std::max(interval.adjusted_high, interval.high);
  const bool leaves_out_zero = interval.adjusted_low > 0 || interval.adjusted_high < 0;
  if (leaves_out_zero == (interval.p_value < 1 - adjusted_confidence) || adjusted_confidence == confidence) {
    return interval;
  }
  // Counted and normal tail disagree about the limit next to 0.
  const auto [mean, deviation] = MomentsOf(sorted);
  if (interval.low > 0) interval.adjusted_low = mean + used.PlaceOf(adjusted_z) * deviation;
  if (interval.high < 0) interval.adjusted_high = mean + used.PlaceOf(-adjusted_z) * deviation;
  return interval;
}

}  // namespace openset
