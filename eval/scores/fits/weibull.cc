#include "eval/scores/fits/weibull.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace openset {
namespace {

// Over u = ln(x / max x) <= 0, weighted by exp(k u).
struct Moments {
  double weight = 0;  // sum of the weights
  double mean = 0;
  double variance = 0;
};

Moments MomentsAt(double k, const std::vector<double>& u) {
  Moments moments;
  for (const double value : u) {
    const double w = std::exp(k * value);
    moments.weight += w;
    moments.mean += w * value;
  }
  moments.mean /= moments.weight;
  for (const double value : u) {
    moments.variance += std::exp(k * value) * (value - moments.mean) * (value - moments.mean) / moments.weight;
  }
  return moments;
}

// The root k of mean_k(u) - mean(u) - 1 / k, which rises from -infinity to a positive value: Newton's method within a
// bracket.
double LikeliestShape(const std::vector<double>& u) {
  double mean = 0;
  for (const double value : u) mean += value / u.size();
  double low = 0;
  double high = -1 / mean;
  while (MomentsAt(high, u).mean - mean - 1 / high < 0) {
    low = high;
    high *= 2;
  }
  double k = high;
  for (int step = 0; step < 200; ++step) {
    const Moments moments = MomentsAt(k, u);
    const double slope = moments.mean - mean - 1 / k;
    (slope < 0 ? low : high) = k;
    const double next = k - slope / (moments.variance + 1 / (k * k));
    const double last = k;
    k = next > low && next < high ? next : (low + high) / 2;
    if (std::abs(k - last) <= 1e-15 * k) break;
  }
  return k;
}

}  // namespace

double WeibullTail::Cdf(double x) const {
  const double z = x + shift;
  return z <= 0 ? 0 : -std::expm1(-std::exp(shape * std::log(z / scale)));
}

absl::StatusOr<WeibullTail> FitWeibullTail(std::vector<double> values, int tail, double translation) {
  for (const double value : values) {
    if (!std::isfinite(value)) return absl::InvalidArgumentError("a value of the tail is not finite");
  }
  if (values.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("a tail needs at least 2 values (has ", values.size(), ")"));
  }
  std::sort(values.begin(), values.end(), std::greater<double>());
  if (values.size() > tail) values.resize(tail);
  const double smallest = values.back();
  const double largest = translation + (values.front() - smallest);
  std::vector<double> u;
  for (const double value : values) u.push_back(std::log1p((value - values.front()) / largest));
  if (u.back() == 0) return absl::InvalidArgumentError(absl::StrCat("all ", values.size(), " values are equal"));
  WeibullTail fitted;
  fitted.shape = LikeliestShape(u);
  fitted.scale = largest * std::exp(std::log(MomentsAt(fitted.shape, u).weight / u.size()) / fitted.shape);
  fitted.shift = translation - smallest;
  return fitted;
}

}  // namespace openset
