#include "eval/statistics/replicate_interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/statistics/distributions.h"

namespace openset {
namespace {

constexpr int kFewBeyond = 10;

// The places of quantiles, on the scale of a standard normal variable: percentile intervals where both are 0.
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

// The place q of 0, SortedQuantile(q) = 0, on the normal scale; of several, the one nearest to `middle`.
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

double PValueOfZero(absl::Span<const double> sorted, const Correction& correction, bool excludes_zero) {
  double place = PlaceOfZero(sorted, correction.PlaceOf(0));
  const int64_t not_above = std::upper_bound(sorted.begin(), sorted.end(), 0.0) - sorted.begin();
  const int64_t not_below = sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), 0.0);
  if (excludes_zero && std::min(not_above, not_below) < kFewBeyond) {
    double mean = 0, squares = 0;
    for (const double value : sorted) mean += value / static_cast<double>(sorted.size());
    for (const double value : sorted) squares += (value - mean) * (value - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(sorted.size()));
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
                                       IntervalMethod method, double confidence) {
  const double z = NormalQuantile((1 - confidence) / 2);
  ReplicateInterval interval;
  const auto set = [&](const Correction& correction) {
    interval.low = SortedQuantile(sorted, NormalCdf(correction.PlaceOf(z)));
    interval.high = SortedQuantile(sorted, NormalCdf(correction.PlaceOf(-z)));
    interval.p_value = PValueOfZero(sorted, correction, interval.low > 0 || interval.high < 0);
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
  return interval;
}

}  // namespace openset
