#include "eval/statistics/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boost/math/distributions/beta.hpp"
#include "boost/math/distributions/binomial.hpp"
#include "boost/math/distributions/chi_squared.hpp"
#include "boost/math/distributions/complement.hpp"
#include "boost/math/distributions/fisher_f.hpp"
#include "boost/math/distributions/normal.hpp"
#include "boost/math/distributions/students_t.hpp"
#include "boost/math/tools/roots.hpp"
#include "eval/metrics/metric.h"

namespace openset {
namespace {

namespace policies = boost::math::policies;

// Overflow gives infinity, never an exception.
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>>;
using Normal = boost::math::normal_distribution<double, Quiet>;
using StudentT = boost::math::students_t_distribution<double, Quiet>;

}  // namespace

double NormalCdf(double z) { return boost::math::cdf(Normal(), z); }

double NormalQuantile(double p) { return boost::math::quantile(Normal(), p); }

double StudentTTwoSidedTail(double t, double degrees_of_freedom) {
  return 2 * boost::math::cdf(boost::math::complement(StudentT(degrees_of_freedom), std::abs(t)));
}

double StudentTTwoSidedQuantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::complement(StudentT(degrees_of_freedom), p / 2));
}

double ChiSquaredTail(double x, double degrees_of_freedom) {
  return boost::math::cdf(
      boost::math::complement(boost::math::chi_squared_distribution<double, Quiet>(degrees_of_freedom), x));
}

double FisherTail(double x, double df1, double df2) {
  if (std::isinf(x)) return 0;
  return boost::math::cdf(boost::math::complement(boost::math::fisher_f_distribution<double, Quiet>(df1, df2), x));
}

double BetaQuantile(double p, double a, double b) {
  return boost::math::quantile(boost::math::beta_distribution<double, Quiet>(a, b), p);
}

double NormalRangeTail(double q, int groups) {
  // P(range <= q) = k * integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1) over z, the largest of the k. The trapezoid
  // rule converges faster than any power of its step on this integrand.
  constexpr double kStep = 1.0 / 16;
  double inside = 0;
  for (double z = -9; z <= 9 + q; z += kStep) {
    inside += boost::math::pdf(Normal(), z) * std::pow(NormalCdf(z) - NormalCdf(z - q), groups - 1);
  }
  return std::fmax(0, 1 - groups * inside * kStep);
}

double NormalRangeQuantile(double p, int groups) {
  const auto excess = [&](double q) { return NormalRangeTail(q, groups) - p; };
  std::uintmax_t steps = 200;
  const auto [low, high] = boost::math::tools::toms748_solve(
      excess, 0.0, 40.0, 1 - p, excess(40), boost::math::tools::eps_tolerance<double>(50), steps, Quiet());
  return (low + high) / 2;
}

namespace {

// The numbers may be fractions: effective ones.
ExactInterval ClopperPearsonOf(double k, double n, double confidence) {
  const double tail = (1 - confidence) / 2;
  ExactInterval interval;
  if (k > 0) interval.low = BetaQuantile(tail, k, n - k + 1);
  if (k < n) interval.high = BetaQuantile(1 - tail, k + 1, n - k);
  return interval;
}

}  // namespace

ExactInterval ClopperPearson(int64_t successes, int64_t trials, double confidence) {
  return ClopperPearsonOf(static_cast<double>(successes), static_cast<double>(trials), confidence);
}

ExactInterval ClusteredInterval(absl::Span<const ClusterCount> clusters, double confidence) {
  int64_t part = 0, all = 0, count = 0, largest = 0;
  for (const ClusterCount& cluster : clusters) {
    part += cluster.part;
    all += cluster.all;
    count += cluster.all > 0 ? 1 : 0;
    largest = std::max(largest, cluster.all);
  }
  if (largest == 1) return ClopperPearson(part, all, confidence);
  if (count == 1) return {};
  if (part == 0 || part == all) return ClopperPearson(part == 0 ? 0 : count, count, confidence);
  const auto n = static_cast<double>(all), c = static_cast<double>(count);
  const double share = static_cast<double>(part) / n;
  double squares = 0;
  for (const ClusterCount& cluster : clusters) {
    const double residual = static_cast<double>(cluster.part) - share * static_cast<double>(cluster.all);
    squares += residual * residual;
  }
  const double variance = c / (c - 1) * squares / (n * n);
  const double ratio =
      StudentTTwoSidedQuantile(1 - confidence, n - 1) / StudentTTwoSidedQuantile(1 - confidence, c - 1);
  const double effective = variance > 0 ? std::min(n, share * (1 - share) / variance * ratio * ratio) : n;
  return ClopperPearsonOf(share * effective, effective, confidence);
}

double ClopperPearsonUpper(int64_t successes, int64_t trials, double delta) {
  if (successes == trials) return 1;
  return BetaQuantile(1 - delta, static_cast<double>(successes) + 1, static_cast<double>(trials - successes));
}

std::optional<ExactInterval> IntervalAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double value,
                                               double confidence) {
  if (value != 0 && value != 1) return std::nullopt;
  const Metric made = MakeMetric(metric);
  const int64_t trials = made.trials ? made.trials(ranked) : 0;
  if (trials == 0) return std::nullopt;
  return ClopperPearson(value == 1 ? trials : 0, trials, confidence);
}

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
  interval.standard_error = MomentsOf(sorted).deviation;
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
